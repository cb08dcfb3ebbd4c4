"""Parses and formats sizes: bytes, powers of 1000 (`kB`) and of 1024 (`KiB`, IEC 80000-13)."""

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from fractions import Fraction

from .structs import struct

MAX_SIZE = 2**63 - 1

_UNITS = {"": 1, "b": 1} | {
    f"{letter}{suffix}": base**power
    for suffix, base in (("b", 1000), ("ib", 1024))
    for power, letter in enumerate("kmgt", start=1)
}
_READABLE = ["kB", "MB", "GB", "TB", "PB"]
_SIZE = re.compile(r"([0-9]{1,30}(?:\.[0-9]{1,30})?)(?: ?([a-z]{1,3}))?", re.IGNORECASE | re.ASCII)
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%", re.ASCII)


def parse_size(value: int | str) -> int:
    """Return a number of bytes from `1024`, `"1024"`, `"1.5GB"` or `"10 MiB"`; fractions of a byte are dropped.

    Raises `ValueError` for any other text, for more than 2^63-1 bytes, and for a size between 0 and 1 byte: it must not
    become 0, which means no limit. A negative size is returned, so that the caller can refuse it with its own message.
    """
    if isinstance(value, str):
        value = _parse_text(value)
    if abs(value) > MAX_SIZE:
        raise ValueError("cannot_parse_disk_space_check_format")
    return value


@struct
class FreeSpace:
    """How much of a storage must be free: `percent` of it, or `size` bytes; the other one is 0."""

    percent: Decimal = Decimal(0)
    size: int = 0

    def bytes_of(self, total: int | None) -> int | None:
        """Return the number of bytes for a storage of `total` bytes; None if its size must be known and is not."""
        if not self.percent:
            return self.size
        return None if total is None else int(total * self.percent / 100)


def parse_free_space(text: str) -> FreeSpace:
    """Parse `10%`, from 0 % to 100 %, or a size such as `50GB`. Raises `ValueError`."""
    if match := _PERCENT.fullmatch(text):
        percent = Decimal(match[1])
        if percent > 100:
            raise ValueError(f"{text!r} is more than 100%")
        return FreeSpace(percent=percent)
    size = parse_size(text)
    if size < 0:
        raise ValueError(f"{text!r} is negative")
    return FreeSpace(size=size)


def _parse_text(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    match = _SIZE.fullmatch(text.removeprefix("-"))
    unit = _UNITS.get((match[2] or "").lower()) if match else None
    if match is None or unit is None:
        raise ValueError("cannot_parse_disk_space_check_format")
    exact = Fraction(match[1]) * unit
    if 0 < exact < 1:
        raise ValueError("cannot_parse_disk_space_check_format")
    return sign * int(exact)


def format_size(size: int, *, up: bool = False) -> str:
    """Format bytes as the first API does in its errors, whose texts old clients compare: `4.00GB`.

    A limit is rounded down, so that the text never exceeds it; a need is rounded up (`up`), so that the text is enough.
    """
    unit, factor = "B", 1
    for power, letter in enumerate("kMGT", start=1):
        if size >= 1000**power:
            unit, factor = f"{letter}B", 1000**power
    number = (Decimal(size) / factor).quantize(Decimal("0.01"), ROUND_CEILING if up else ROUND_FLOOR)
    return f"{number}{unit}"


def readable_size(size: int) -> str:
    """Format bytes for people, with three digits: `500 bytes`, `4.20 MB`. The web console and the client do so, too.

    For an exact number of bytes, such as where a content was cut, write the number.
    """
    if abs(size) < 1000:
        return "1 byte" if size == 1 else f"{size} bytes"
    value, units = Decimal(size) / 1000, _READABLE
    while abs(value) >= Decimal("999.5") and len(units) > 1:
        value, units = value / 1000, units[1:]
    decimals = next((count for count, end in ((2, "9.995"), (1, "99.95")) if abs(value) < Decimal(end)), 0)
    return f"{value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):,} {units[0]}"
