"""Checks a Redis database file (RDB): the byte that ends it, and its CRC-64 (`rdb.c` and `crc64.c` of Redis)."""

import functools

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import BrokenContent
from ..format import Format, read_all_but

START = b"REDIS"
_END = 0xFF
_CHECKSUM = 8
_FIRST_VERSION_WITH_CHECKSUM = 5
# The polynomial of Jones, reflected; start and final value are 0.
_POLYNOMIAL = 0x95AC9329AC4BC9B5


@functools.cache
def _tables() -> tuple[list[int], list[int]]:
    """Return the table for one byte, and the one for two."""
    one = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        one.append(value)
    return one, [(one[low] >> 8) ^ one[(one[low] ^ high) & 0xFF] for high in range(256) for low in range(256)]


class Crc64:
    """The CRC-64 of the bytes that were added."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, data: bytes) -> None:
        """Add bytes, two at a time: in Python that is twice as fast as one at a time."""
        one, two = _tables()
        value = self.value
        even = len(data) & ~1
        for pair in memoryview(data[:even]).cast("H"):  # the native order, which `_tables` assumes to be little-endian
            value = (value >> 16) ^ two[(value ^ pair) & 0xFFFF]
        for byte in data[even:]:
            value = (value >> 8) ^ one[(value ^ byte) & 0xFF]
        self.value = value


def check(source: ByteStream, budget: Budget) -> str:
    """Read to the end, and compare the checksum; it is zero if `rdbchecksum` is off."""
    version = int(source.peek(9)[len(START) :])
    crc, last = Crc64(), bytearray(1)

    def use(data: bytes) -> None:
        for start in range(0, len(data), 64 << 10):
            budget.spend()
            crc.add(data[start : start + (64 << 10)])
        last[0] = data[-1]

    if version < _FIRST_VERSION_WITH_CHECKSUM:
        tail = read_all_but(source, budget, 1, lambda data: None)
        last[:] = tail
    else:
        tail = read_all_but(source, budget, _CHECKSUM, use)
    if last[0] != _END:
        raise BrokenContent("rdb", "The Redis database ends too early: the byte that ends it is missing")
    if version < _FIRST_VERSION_WITH_CHECKSUM or not any(tail):
        return "The Redis database ends as it should; it has no checksum"
    if int.from_bytes(tail, "little") != crc.value:
        raise BrokenContent("rdb", "The checksum at the end of the Redis database is wrong")
    return "The Redis database is whole"


FORMAT = Format(
    kind="rdb",
    label="Redis database",
    suffixes=(".rdb",),
    recognizes=lambda head: head.startswith(START) and head[5:9].isdigit(),
    check=check,
)
