"""Checks a Redis database file (RDB): the byte that ends it, and its CRC-64 (`rdb.c` and `crc64.c` of Redis)."""

import re

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import BrokenContent, NotCheckable
from ..format import Format, read_all_but
from .crc64 import Crc64

START = b"REDIS"
_END = 0xFF
_HEAD = 1024
_CHECKSUM = 8
_FIRST_VERSION_WITH_CHECKSUM = 5
# `redis-cli --rdb -` writes the mark with which the server ends the transfer, too: 40 hexadecimal digits.
_MARK = re.compile(rb"[0-9a-f]{40}")
_MARK_SIZE = 40
# The field that says that commands follow: the log of Redis 4 to 6 begins with a database.
_LOG = b"\xfa\x0caof-preamble\xc0\x01"


def check(source: ByteStream, budget: Budget) -> str:
    """Read to the end, and compare the checksum; it is zero if `rdbchecksum` is off."""
    head = source.peek(_HEAD)
    if _LOG in head:
        raise NotCheckable("it is the log (AOF) of Redis, which has no end that can be seen")
    has_checksum = int(head[len(START) : len(START) + 4]) >= _FIRST_VERSION_WITH_CHECKSUM
    crc = Crc64()

    def use(data: bytes) -> None:
        if has_checksum:
            crc.add(data)

    tail = read_all_but(source, budget, 1 + _CHECKSUM + _MARK_SIZE, use)
    if _MARK.fullmatch(tail[-_MARK_SIZE:]):
        tail = tail[:-_MARK_SIZE]
    checksum = tail[-_CHECKSUM:] if has_checksum else b""
    rest = tail[: len(tail) - len(checksum)]
    if rest[-1:] != bytes([_END]):
        raise BrokenContent("rdb", "The Redis database ends too early: the byte that ends it is missing")
    if not any(checksum):
        return "The Redis database ends as it should; it has no checksum"
    crc.add(rest)
    if int.from_bytes(checksum, "little") != crc.value:
        raise BrokenContent("rdb", "The checksum at the end of the Redis database is wrong")
    return "The Redis database is whole"


FORMAT = Format(
    kind="rdb",
    label="Redis database",
    suffixes=(".rdb",),
    recognizes=lambda head: head.startswith(START) and head[5:9].isdigit(),
    check=check,
)
