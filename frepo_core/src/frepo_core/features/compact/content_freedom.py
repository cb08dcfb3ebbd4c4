"""What may be done with a content, by what uses it: it is stored raw, compressed, or as a difference."""

from dataclasses import dataclass
from datetime import datetime

from .planned_content import Encoding, Freedom


@dataclass(frozen=True, kw_only=True)
class Use:
    """All that uses a content, in all collections.

    `is_newest` and `is_newest_good` are those of any collection. `is_held` says that a version is pinned, was restored
    lately, or is locked; `is_pending`, that a check has not ended. `used_at` is when the newest of its versions
    arrived.
    """

    has_plain_file: bool
    is_newest: bool
    is_newest_good: bool
    is_held: bool
    is_pending: bool
    is_damaged: bool
    used_at: datetime


def find_freedom(use: Use, encoding: Encoding, *, before: datetime, newest: Freedom) -> Freedom:
    """Return what may be done with a content. One that arrived after `before` waits, unless it is encoded already.

    What people download most, and what has to stay as it is, is stored raw. `newest` is what may be done with the
    newest versions, as soon as their checks have ended.
    """
    if use.is_damaged:
        return Freedom.NONE
    if use.has_plain_file or use.is_held:
        return Freedom.RAW
    if use.is_newest or use.is_newest_good:
        return Freedom.RAW if use.is_pending else newest
    if use.is_pending or (use.used_at > before and encoding is Encoding.RAW):
        return Freedom.RAW
    return Freedom.DELTA
