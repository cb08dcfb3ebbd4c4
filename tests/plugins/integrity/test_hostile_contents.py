"""Contents that are made to cost much: a million records, members or frames that unpack to nothing."""

import bz2
import gzip
import io
import lzma
import struct
import tracemalloc
import zlib

import lz4.frame
import pytest

from frepo_integrity.budget import Budget
from frepo_integrity.byte_stream import ByteStream
from frepo_integrity.formats.codecs import CODECS
from frepo_integrity.formats.compressed import decompress
from frepo_integrity.outcomes import OutOfTime
from support.compressors import zstd
from support.hostile_contents import EMPTY_MEMBER, pax

MIB = 1 << 20
ZEROS_AT_END = bytes(1024)


def member_of(size):
    """A member whose own header says that it is empty, with this content."""
    return EMPTY_MEMBER + bytes(size) + bytes(-size % 512)


def xz_with_index(records):
    """An xz stream whose index has this many blocks of four bytes, which are no blocks."""
    count, number = b"", records
    while number >= 0x80:
        count, number = count + bytes([number & 0x7F | 0x80]), number >> 7
    index = b"\0" + count + bytes([number]) + b"\1\1" * records
    index += bytes(-len(index) % 4)
    index += struct.pack("<I", zlib.crc32(index))
    flags = b"\0\1"
    footer = struct.pack("<I", len(index) // 4 - 1) + flags
    header = b"\xfd7zXZ\0" + flags + struct.pack("<I", zlib.crc32(flags))
    return header + b"xxxx" * records + index + struct.pack("<I", zlib.crc32(footer)) + footer + b"YZ"


def zip_of_one_member(entries, size, comment=b""):
    """A zip archive whose entries all claim the same `size` bytes, which begin with deflated nothing."""
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, 0, size, 0, 1, 0) + b"a"
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 8, 0, 0, 0, size, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    content = local + (b"\3\0" + bytes(size))[:size]
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, entries, entries, len(entry) * entries, len(content), len(comment))
    return content + entry * entries + end + comment


class CountingFile(io.BytesIO):
    """Counts the bytes and the calls of `read`."""

    def __init__(self, content):
        super().__init__(content)
        self.bytes = self.reads = 0

    def read(self, size=-1):
        data = super().read(size)
        self.bytes += len(data)
        self.reads += 1
        return data


@pytest.fixture
def measured(check):
    """Check a content; return the report, the peak of memory in bytes, and how often the budget was asked."""

    def measured(content, function=check):
        ticks = []
        tracemalloc.start()
        try:
            report = function(content, tick=lambda: ticks.append(None))
            return report, tracemalloc.get_traced_memory()[1], len(ticks)
        finally:
            tracemalloc.stop()

    return measured


@pytest.mark.parametrize(
    "records",
    [[b"%d %07d=\n" % (12, number) for number in range(8_000)], [b"2 "] * 20_000],
    ids=["keys", "records without a key"],
)
def test_a_pax_header_of_many_records_is_bounded(measured, records):
    report, peak, ticks = measured(pax(*records) + EMPTY_MEMBER + ZEROS_AT_END)

    assert "good" == report.outcome
    assert peak < MIB // 2
    assert ticks > len(records)


def test_a_pax_header_of_one_large_record_is_not_kept(measured):
    size = 12 * MIB

    report, peak, _ = measured(pax(b"%d SCHILY.xattr.a=" % size, bytes(size - 27), b"\n") + EMPTY_MEMBER + ZEROS_AT_END)

    assert "good" == report.outcome
    assert peak < MIB


def test_the_last_size_of_a_pax_header_counts(check):
    for records, size in [
        ([b"13 size=1000\n"], 1000),
        ([b"13 size=1000\n", b"10 size=2\n", b"9 path=x\n"], 2),
        ([b"9 path=x\n", b"13 size=1000\n"], 1000),
        ([b"12 size=ten\n"], 0),
        ([b"5011 size=" + b"1" * 5000 + b"\n"], 0),
        ([b"0 size=2\n"], 0),
        ([b"999999999 size=2\n"], 0),
    ]:
        report = check(pax(*records) + member_of(size) + EMPTY_MEMBER + ZEROS_AT_END)

        assert ("good", "The tar archive is whole, it has 2 members") == (report.outcome, report.message)


@pytest.mark.costly
def test_an_xz_index_of_many_records_asks_the_budget(measured, check_quickly):
    report, _, ticks = measured(xz_with_index(40_000), check_quickly)

    assert "pending" == report.outcome
    assert ticks >= 10


def test_an_xz_index_that_is_too_large_is_left_to_the_complete_check(measured, check_quickly):
    content = xz_with_index(3_000_000)

    report, peak, ticks = measured(content, check_quickly)

    assert "pending" == report.outcome
    assert peak < MIB
    assert ticks < 10


def test_padding_after_xz_is_read_in_pieces(check_quickly):
    content = lzma.compress(b"a") + bytes(4 * MIB)
    ticks = []

    report = check_quickly(content, tick=lambda: ticks.append(None))

    assert "pending" == report.outcome
    assert 64 < len(ticks) < 100


def test_a_cut_before_the_padding_of_xz_is_found(check_quickly):
    for zeros in [4, 64 << 10, (64 << 10) + 4, 200_000]:
        whole = lzma.compress(b"a")

        assert "pending" == check_quickly(whole + bytes(zeros)).outcome
        assert "it does not end with a footer" in check_quickly(whole[:-4] + bytes(zeros)).message
        assert "it does not end with a footer" in check_quickly(whole + bytes(zeros + 1)).message


EMPTY = {
    "gzip": gzip.compress(b"", mtime=0),
    "bzip2": bz2.compress(b""),
    "xz": lzma.compress(b""),
    "zstd": zstd.compress(b""),
    "lz4": lz4.frame.compress(b""),
    "skippable": b"\x50\x2a\x4d\x18" + bytes(4),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_an_empty_member_is_not_checked_with_all_that_follows(kind):
    """A decompressor that gets what follows the end of its member copies it; a member of 9 bytes got 128 KiB."""
    given = []
    codec = CODECS["zstd" if kind == "skippable" else kind]

    class Source(ByteStream):
        def take(self, *limit):
            data = super().take(*limit)
            given.append(len(data))
            return data

    members = 1000
    source = Source(iter([EMPTY[codec.name] + EMPTY[kind] * members]))
    budget = Budget(1, max_output=1, max_ratio=2)

    assert [] == list(decompress(source, codec, budget))
    assert sum(given) <= (members + 1) * 1024


def test_members_of_a_zip_archive_that_overlap_are_not_read_again_and_again(check):
    content = zip_of_one_member(entries=10_000, size=100_000)

    report = check(content)

    assert ("not checked", "The members of the zip archive overlap") == (report.outcome, report.message)


def test_a_zip_comment_of_many_ends_costs_few_reads():
    from frepo_integrity.formats.zip_directory import read_directory

    fakes = b"".join(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 46, 0, left * 22) for left in reversed(range(2900)))
    file = CountingFile(content := zip_of_one_member(entries=1, size=2, comment=fakes))

    read_directory(file, len(content))

    assert file.reads < 30
    assert file.bytes < 2 * MIB


def test_a_zip_directory_of_many_entries_ends_in_time(check, check_quickly):
    content = zip_of_one_member(entries=60_000, size=2)

    with pytest.raises(OutOfTime):
        check(content, deadline=0.0)
    assert "pending" == check_quickly(content, deadline=0.0).outcome
