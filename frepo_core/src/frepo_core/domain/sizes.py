"""Sizes as people write them: bytes, powers of 1000 (`kB`) and of 1024 (`KiB`)."""

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction

MAX_SIZE = 2**63 - 1

_UNITS = {"": 1, "b": 1} | {
    f"{letter}{suffix}": base**power
    for suffix, base in (("b", 1000), ("ib", 1024))
    for power, letter in enumerate("kmgt", start=1)
}
_SIZE = re.compile(r"([0-9]{1,30}(?:\.[0-9]{1,30})?)(?: ?([a-z]{1,3}))?", re.IGNORECASE | re.ASCII)


def parse_size(value: int | str) -> int:
    """Return a number of bytes from `1024`, `"1024"`, `"1.5GB"` or `"10 MiB"`; fractions of a byte are dropped.

    Raises `ValueError` for anything else, for what is over 2^63-1, and for less than one byte that is
    not 0: it must not turn into 0, which is no limit. A leading minus is read, so that a caller can tell
    a negative size from nonsense.
    """
    if isinstance(value, str):
        value = _parse_text(value)
    if abs(value) > MAX_SIZE:
        raise ValueError("cannot_parse_disk_space_check_format")
    return value


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
    """Write bytes with two decimals in the largest unit of 1000 that fits: `4.00GB`.

    Rounded down, so that a limit as written is never over the limit; with `up`, rounded up, so that a need
    as written is enough.
    """
    unit, factor = "B", 1
    for power, letter in enumerate("kMGT", start=1):
        if size >= 1000**power:
            unit, factor = f"{letter}B", 1000**power
    number = (Decimal(size) / factor).quantize(Decimal("0.01"), ROUND_CEILING if up else ROUND_FLOOR)
    return f"{number}{unit}"
