"""Parses the Range header of a request (RFC 9110, 14)."""

import re

_RANGE = re.compile(r"([0-9]{0,100})-([0-9]{0,100})")


def parse_range(header: str, size: int) -> tuple[int, int] | None:
    """Return the range as (start, end) in bytes, end excluded; an empty range cannot be satisfied (416).

    None means that the header is ignored and the whole content is sent: another unit, invalid syntax, or several
    ranges. RFC 9110, 14.2, allows this. An answer in several parts would occupy a thread while the client reads.
    """
    unit, _, text = header.partition("=")
    parts = [part.strip() for part in text.split(",") if part.strip()]
    match = _RANGE.fullmatch(parts[0]) if unit.strip().lower() == "bytes" and len(parts) == 1 else None
    if not match or not (match[1] or match[2]) or (match[1] and match[2] and int(match[1]) > int(match[2])):
        return None
    return _resolve(match[1], match[2], size)


def _resolve(first: str, last: str, size: int) -> tuple[int, int]:
    if not first:
        return (size - min(int(last), size), size)
    start = min(int(first), size)
    return (start, min(int(last) + 1, size) if last else size)
