"""The names of files in an archive of WAL, and the place of each in it."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["segment", "partial", "backup", "history"]

# Each name, for those who check it with another program.
PATTERN = r"^([0-9A-F]{24}(\.partial|\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history)$"
_SEGMENT = re.compile(r"([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})(\.partial|\.[0-9A-F]{8}\.backup)?")
_HISTORY = re.compile(r"([0-9A-F]{8})\.history")
_LSN = re.compile(r"([0-9A-F]{1,8})/([0-9A-F]{1,8})")
EXPECTED = (
    "a segment such as 000000010000000A000000FE, also with .partial, a .backup file such as "
    "000000010000000A000000FE.00000028.backup, or a history such as 00000002.history"
)


@dataclass(frozen=True, kw_only=True)
class WalName:
    """A name. `log` and `segment` are the two halves of the place of a segment; a history has none."""

    kind: Kind
    timeline: int
    log: int = 0
    segment: int = 0

    def index(self, segment_size: int) -> int:
        """Return the number of the segment since the beginning of the WAL."""
        return self.log * (1 << 32) // segment_size + self.segment


def parse_name(text: str) -> WalName | None:
    """Return what a name says; None if PostgreSQL gives no file such a name."""
    if found := _SEGMENT.fullmatch(text):
        kind: Kind = "segment" if not found[4] else "partial" if found[4] == ".partial" else "backup"
        return WalName(kind=kind, timeline=int(found[1], 16), log=int(found[2], 16), segment=int(found[3], 16))
    if found := _HISTORY.fullmatch(text):
        return WalName(kind="history", timeline=int(found[1], 16))
    return None


def segment_name(timeline: int, index: int, segment_size: int) -> str:
    """Return the name of the segment with a number."""
    log, segment = divmod(index, (1 << 32) // segment_size)
    return f"{timeline:08X}{log:08X}{segment:08X}"


def parse_lsn(text: str) -> int:
    """Return the place in the WAL that a text such as `0/2000028` stands for, in bytes. Raises `ValueError`."""
    if not (found := _LSN.fullmatch(text)):
        raise ValueError(f"{text!r:.40} is no place in the WAL")
    return (int(found[1], 16) << 32) + int(found[2], 16)
