"""Byte ranges of a request (RFC 9110, 14)."""

import re

MAX_RANGES = 16

_RANGE = re.compile(r"([0-9]{0,100})-([0-9]{0,100})")


def parse_ranges(header: str, size: int) -> list[tuple[int, int]] | None:
    """Return the satisfiable ranges as (start, end), end excluded; an empty list means 416.

    None means that the field is to be ignored and the whole is sent: another unit, bad syntax, more
    ranges than 16, or ranges that together are larger than the whole (RFC 9110, 14.2).
    """
    unit, equals, text = header.partition("=")
    if unit.strip().lower() != "bytes" or not equals:
        return None
    ranges: list[tuple[int, int]] = []
    for part in text.split(","):
        if not part.strip():
            continue
        match = _RANGE.fullmatch(part.strip())
        if not match or not (match[1] or match[2]) or (match[1] and match[2] and int(match[1]) > int(match[2])):
            return None
        if found := _resolve(match[1], match[2], size):
            ranges.append(found)
    if not text.strip(", \t") or len(ranges) > MAX_RANGES or sum(end - start for start, end in ranges) > max(size, 1):
        return None
    return ranges


def _resolve(first: str, last: str, size: int) -> tuple[int, int] | None:
    if not first:
        length = min(int(last), size)
        return (size - length, size) if length else None
    start = int(first)
    end = min(int(last) + 1, size) if last else size
    return (start, end) if start < size else None
