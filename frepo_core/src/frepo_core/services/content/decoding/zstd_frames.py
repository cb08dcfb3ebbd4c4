"""What the head of a frame of Zstandard says (RFC 8878, 3.1): how much memory it needs."""

from dataclasses import dataclass

_MAGIC = bytes.fromhex("28b52ffd")
_SKIPPABLE = bytes.fromhex("2a4d18")  # after a byte from 0x50 to 0x5f
_DICTIONARY_BYTES = (0, 1, 2, 4)
_SIZE_BYTES = (0, 2, 4, 8)


@dataclass(frozen=True)
class FrameHead:
    """The head of a frame. Its window is in bytes; `skipped` is None, or the size of a frame without content."""

    window: int
    skipped: int | None = None


def parse_head(data: bytes) -> FrameHead | None:
    """Return the head of the frame that begins with these bytes; None if more are needed.

    Raises `ValueError` if they begin no frame.
    """
    magic = data[:4]
    if _MAGIC.startswith(magic):
        return None if len(data) < 5 else _frame(data)
    if magic[0] & 0xF0 == 0x50 and _SKIPPABLE.startswith(magic[1:]):
        return None if len(data) < 8 else FrameHead(0, skipped=8 + int.from_bytes(data[4:8], "little"))
    raise ValueError("unknown frame descriptor")


def _frame(data: bytes) -> FrameHead | None:
    flags = data[4]
    if not flags & 0x20:  # no single segment: a byte for the window follows
        if len(data) < 6:
            return None
        base = 1 << (10 + (data[5] >> 3))
        return FrameHead(base + (base >> 3) * (data[5] & 7))
    start = 5 + _DICTIONARY_BYTES[flags & 3]
    end = start + (_SIZE_BYTES[flags >> 6] or 1)
    size = int.from_bytes(data[start:end], "little") + (256 if flags >> 6 == 1 else 0)
    return None if len(data) < end else FrameHead(size)
