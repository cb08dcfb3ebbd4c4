"""What the service answers about the parts of a version."""

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from frepo_core.web import PageQuery, Query, Reply

from ..tree import Node


class ContentsQuery(PageQuery):
    """Which parts."""

    parent: int = Field(0, ge=0, le=1 << 31, description="The number of a folder; 0 is the top.")
    name: str = Field("", max_length=4096, description="Only parts with this name, with or without their folder.")


class ChangesQuery(Query):
    """With which other version."""

    since: str = Field("", max_length=64, description="A selector such as `v6`; by default the version before.")


class PartItem(Reply):
    """A part: its name is a text that may be anything. Sizes are in bytes.

    - `number`: under it, `GET .../contents/{number}` gives the part, unless `refusal` says why not.
    - `parts`: of a folder, how many parts are below it; null for others.
    - `mode`: in octal.
    """

    number: int
    name: str
    kind: str
    size: int
    rows: int | None
    mode: str | None
    modified_at: datetime | None
    target: str | None
    parts: int | None
    refusal: str | None

    @classmethod
    def of(cls, node: Node, name: str | None = None) -> "PartItem":
        """Convert a place in the tree."""
        part = node.part
        is_folder = bool(node.children) or part is None
        return cls(
            number=node.number,
            name=name or node.name,
            kind="folder" if part is None else part.kind,
            size=node.size if is_folder or part is None else part.size,
            rows=part.rows if part else None,
            mode=f"{part.mode:04o}" if part and part.mode is not None else None,
            modified_at=_time(part.modified) if part else None,
            target=(part.target or None) if part else None,
            parts=node.count if is_folder else None,
            refusal=(part.refusal or None) if part else "It is a folder",
        )


class Contents(Reply):
    """The parts of a version, a page of those in one folder.

    - `state`: `listed`; `pending`, if the list is being made: ask again; `none`, and `reason` says why.
    - `format`: what people call it. `parts`: how many there are in all.
    """

    version: int
    state: Literal["listed", "pending", "none"]
    reason: str | None
    format: str | None
    parts: int
    items: list[PartItem]
    next: str | None


class Change(Reply):
    """A part that differs. Sizes are in bytes; null where there is none."""

    name: str
    kind: str
    change: Literal["went", "shrank", "appeared", "grew", "changed"]
    size_before: int | None
    size: int | None
    rows_before: int | None
    rows: int | None


class Changes(Reply):
    """What differs from an earlier version: what went and what shrank first. `total` counts all, `items` has 500."""

    version: int
    since: int | None
    state: Literal["listed", "pending", "none"]
    reason: str | None
    total: int
    items: list[Change]


def _time(seconds: int | None) -> datetime | None:
    """Return a time of an archive; None for one that no calendar has."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
