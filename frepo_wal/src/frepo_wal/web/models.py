"""The answers."""

from datetime import datetime

from frepo_core.web import Reply


class Stored(Reply):
    """A file that is stored. `version` is the number of its version."""

    name: str
    version: int
    size: int
    sha256: str


class Missing(Reply):
    """Segments that are missing, from the first to the last."""

    first: str
    last: str
    count: int


class Window(Reply):
    """Each moment between these can be restored, from the base backup with the number `base`."""

    base: int
    since: datetime
    until: datetime


class StatusReply(Reply):
    """An archive.

    - `files`: how many there are. `newest`: the newest segment, null if there is none, and when it arrived.
    - `waiting`: how many segments waited on the primary when the newest one was sent, null if that is unknown.
    - `system`: the identifier of the cluster.
    - `restorable`: from when until when. Between two of these lie the `missing` segments.
    """

    files: int
    newest: str | None
    newest_at: datetime | None
    waiting: int | None
    system: str | None
    timeline: int | None
    missing: list[Missing]
    restorable: list[Window]
    problems: list[str]
