"""What the check of a byte can cost is bounded, whatever a content looks like: a table of odd contents."""

import bz2
import gzip
import io
import lzma

import lz4.frame
import pytest
from backports import zstd

from frepo_integrity.budget import Budget
from frepo_integrity.formats import sql_dump
from frepo_integrity.inspection import Inspection, inspect
from frepo_integrity.outcomes import BrokenContent, EmptyContent
from support.work import count_work

pytestmark = pytest.mark.slow
KIB = 1 << 10
# For each byte of the content.
MOST_CALLS, MOST_SCANNED = 12, 60
PG = b"--\n-- PostgreSQL database dump\n--\n"
COMPRESS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd.compress,
    "lz4": lz4.frame.compress,
}


def repeated(piece, before=b""):
    """Return a function that repeats a piece up to a size."""
    return lambda size: before + piece * ((size - len(before)) // len(piece))


CONTENTS = {
    **{f"empty members of {name}": repeated(compress(b"")) for name, compress in COMPRESS.items()},
    **{f"tiny members of {name}": repeated(compress(b"x")) for name, compress in COMPRESS.items()},
    **{f"a dump in tiny members of {name}": repeated(pack(b"x"), pack(PG)) for name, pack in COMPRESS.items()},
    "skippable frames": repeated(bytes.fromhex("502a4d1800000000"), zstd.compress(PG)),
    "starts of dumps": repeated(PG),
    "starts of dumps in rows": repeated(b"'a" + PG),
    "starts of dumps and of tables": repeated(b" FROM stdin;\n" + PG, PG),
    "starts of dumps and ends of tables": repeated(b"\n\\.\n" + PG, PG),
    "ends of dumps": repeated(b"\n-- Dump completed", PG),
    "ends of transactions": repeated(b"\nCOMMIT;", PG),
    "almost starts": repeated(b"/*!1 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='", PG),
    "quotes": repeated(b"'", PG),
    "line ends": repeated(b"\n", PG),
    "one line": repeated(b"a", PG),
    "zeros": repeated(b"\0"),
    "blanks": repeated(b" \n"),
    "UTF-16": lambda size: (PG + b"\n" * (size // 2)).decode().encode("utf-16"),
}


def check(content):
    budget = Budget(len(content), max_output=1 << 30, max_ratio=1e6)
    inspect(io.BytesIO(content), len(content), "a", Inspection(budget=budget))


@pytest.mark.parametrize("make", CONTENTS.values(), ids=CONTENTS)
def test_twice_as_many_bytes_are_twice_the_work(make):
    refused = (BrokenContent, EmptyContent)
    size = 48 * KIB  # both are less than the service reads at once
    half, whole = (count_work(lambda size=size: check(make(size)), refused=refused) for size in (size, 2 * size))

    for kind, most in (("calls", MOST_CALLS), ("scanned", MOST_SCANNED)):
        one, two = getattr(half, kind), getattr(whole, kind)
        assert two < 2 * most * size, (kind, half, whole)
        assert two < 2.5 * one + 40 * size, (kind, half, whole)  # 512 bytes are looked at again with each piece


class Copied(bytes):
    """Bytes that count what is copied when they are added to others."""

    count = 0

    def __radd__(self, before):
        if isinstance(before, bytearray):  # it grows in its place
            return NotImplemented
        Copied.count += len(before)
        return before + bytes(self)


class Pieces:
    """A stream of tiny pieces, as a decompressor makes of tiny members."""

    def __init__(self, number):
        self.left = number

    def take(self):
        self.left -= 1
        return Copied(b"insert into orders values (1);\n") if self.left >= 0 else b""


def test_the_end_of_a_dump_is_kept_without_copying_it_for_each_piece():
    number = 40_000
    program = sql_dump.recognize(PG)
    with pytest.raises(BrokenContent):
        sql_dump.check_sql(Pieces(number), program, Budget(1 << 20, max_output=1 << 30, max_ratio=1e6))

    assert Copied.count < 1000 * number
