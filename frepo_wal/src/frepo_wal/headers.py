"""What a file of the archive says about itself: the header of a segment, and the last line of a history."""

import struct
from dataclasses import dataclass

from .names import WalName, parse_lsn

# `XLogLongPageHeaderData`: magic, info, timeline, address, length of what goes on, system, segment, block.
_HEADER = "HHIQIxxxxQII"
SIZE = struct.calcsize("<" + _HEADER)
_LONG = 0x0002
_SIZES = {1 << power for power in range(20, 31)}


class WrongContentError(ValueError):
    """The content is not that of a file with this name. The text says why."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """The header of a segment. `system` is the identifier of the cluster, sizes are in bytes."""

    timeline: int
    address: int
    system: int
    segment_size: int


def read_header(head: bytes) -> Header | None:
    """Return the header at the beginning of a segment, of a machine of either byte order; None if there is none."""
    if len(head) < SIZE:
        return None
    for order in "<>":
        _, info, timeline, address, _, system, segment_size, _ = struct.unpack_from(order + _HEADER, head)
        if segment_size in _SIZES and info & _LONG and address % segment_size == 0:
            return Header(timeline=timeline, address=address, system=system, segment_size=segment_size)
    return None


def check_segment(name: WalName, head: bytes, size: int) -> Header | None:
    """Compare a segment with its name. Raises `WrongContentError`.

    The first segment of a timeline may begin with pages of an older one: PostgreSQL copies what was in it. A `.partial`
    may have no header.
    """
    header = read_header(head)
    if header is None:
        if name.kind == "partial":
            return None
        raise WrongContentError("It does not begin as a segment of the WAL does")
    if size != header.segment_size:
        raise WrongContentError(f"It has {size} bytes, and says that its segments have {header.segment_size}")
    if header.address // header.segment_size != name.index(header.segment_size):
        raise WrongContentError("Its header is that of another place in the WAL than its name")
    if header.timeline > name.timeline:
        raise WrongContentError(f"It is of timeline {header.timeline}, which is later than that of its name")
    return header


def read_parent(content: bytes) -> tuple[int, int] | None:
    """Return from which timeline a history says that its own begins, and where; None if it does not say."""
    lines = [line for line in content.decode("utf-8", "replace").splitlines() if line.strip() and line[0] != "#"]
    if not lines:
        return None
    words = lines[-1].split()
    try:
        return int(words[0]), parse_lsn(words[1])
    except (ValueError, IndexError):
        return None
