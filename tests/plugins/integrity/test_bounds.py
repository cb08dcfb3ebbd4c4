"""Bombs: what unpacks to far more than it is ends as not checked, soon and in little memory."""

import io
import lzma
import subprocess
import sys
import tarfile
import time
import tracemalloc
import zipfile
import zlib

import pytest

from frepo_integrity.outcomes import BrokenContent, OutOfTime
from support.compressors import COMPRESSORS, rows, zstd

ZEROS = bytes(64 << 20)


def tar_of(name):
    """An archive with one empty member."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    return file.getvalue()


def sparse_map(blocks):
    """An archive that ends within the map of an old GNU sparse file."""
    member = tarfile.TarInfo("a")
    member.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[482] = 1
    header[148:156] = b"%06o\0 " % sum(header[:148] + b" " * 8 + header[156:])
    return bytes(header) + (bytes(504) + b"\1" + bytes(7)) * blocks


@pytest.fixture(scope="module", params=["gzip in gzip", "zip", "bzip2", "zstd", "xz"])
def bomb(request):
    """A content of at most 80 KB that unpacks to 100 MB or more."""
    if request.param == "zip":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in "ab":
                archive.writestr(name, ZEROS)
        return file.getvalue()
    if request.param == "zstd":
        return zstd.compress(ZEROS) * 2
    kind = request.param.split()[0]
    pack = COMPRESSORS[kind]["python"]
    packed = pack(ZEROS) * 2
    return pack(packed) if "in" in request.param else packed


def test_a_bomb_is_not_checked_because_of_its_ratio(check, bomb):
    tracemalloc.start()
    started = time.monotonic()
    report = check(bomb, max_ratio=100)
    seconds, (_, peak) = time.monotonic() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert "not checked" == report.outcome
    assert "more than 100 times its size, see integrity.max_ratio" in report.message
    assert peak < 20 << 20
    assert seconds < 20


def test_a_bomb_is_not_checked_because_of_its_size(check, bomb):
    report = check(bomb, max_output=10 << 20, max_ratio=1e9)

    assert "not checked" == report.outcome
    assert "more than 10485760 bytes, see integrity.max_output" in report.message


def test_a_check_ends_when_its_time_is_over(check):
    content = COMPRESSORS["gzip"]["python"](ZEROS)

    with pytest.raises(OutOfTime):
        check(content, deadline=time.monotonic())


SKIPPABLE = b"\x50\x2a\x4d\x18" + bytes(4)


@pytest.mark.parametrize(
    "content",
    [
        COMPRESSORS["zstd"]["python"](b"a") + SKIPPABLE * 100_000,
        COMPRESSORS["gzip"]["python"](b"a") + bytes(16 << 20),
        tar_of("a") + bytes(16 << 20),
        sparse_map(100_000),
    ],
    ids=["skippable frames", "padding", "zeros after tar", "map of a sparse file"],
)
def test_a_check_of_what_unpacks_to_nothing_ends_in_time_too(check, content):
    ticks = []

    check(content, tick=lambda: ticks.append(time.monotonic()))

    assert len(ticks) > 100


def test_the_quick_check_of_a_tar_archive_with_much_padding_is_left_to_the_job(check_quickly):
    assert "pending" == check_quickly(tar_of("a") + bytes(16 << 20), deadline=time.monotonic() + 0.01).outcome


def test_a_check_ends_when_the_caller_says_so(check):
    class LeaseLost(Exception):
        pass

    def tick():
        raise LeaseLost

    with pytest.raises(LeaseLost):
        check(COMPRESSORS["gzip"]["python"](rows(1000)), tick=tick)


def test_zeros_that_gzip_compresses_a_thousand_times_are_checked(check):
    assert "good" == check(COMPRESSORS["gzip"]["gzip -9"](ZEROS)).outcome


def test_only_so_many_compressions_in_each_other_are_unpacked(check):
    pack = COMPRESSORS["gzip"]["python"]
    content = rows(100)
    for _ in range(30):
        content = pack(content)

    report = check(content)

    assert ("good", ("gzip",) * 4) == (report.outcome, report.kinds)
    assert "gzip inside a compression cannot be checked" in report.message
    assert isinstance(check(content[:-1]), BrokenContent)


def xz_with_window(data, size_code):
    """Return data as xz whose header asks for this window: 2 or 3 times a power of two, see the format of xz, 5.3.1."""
    packed = bytearray(lzma.compress(data, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 4096}]))
    packed[16] = size_code
    packed[20:24] = zlib.crc32(packed[12:20]).to_bytes(4, "little")
    return bytes(packed)


XZ_192_MB, XZ_96_MB, XZ_48_MB, XZ_24_MB = 31, 29, 27, 25


def zstd_with_window(data, log):
    """Return data as zstd whose header asks for this window (RFC 8878, 3.1.1.1.2)."""
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 10})
    packed = bytearray(compressor.compress(data) + compressor.flush())
    assert not packed[4] & 0x20, "there is a window in the header"
    packed[5] = (log - 10) << 3
    return bytes(packed)


def nested(*layers):
    """Return a text in these compressions, the outermost first."""
    content = rows(2000)
    for make, window in reversed(layers):
        content = make(content, window)
    return content


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (nested((xz_with_window, XZ_192_MB)), ("xz",)),
        (nested((zstd_with_window, 27), (zstd_with_window, 27)), ("zstd", "zstd")),
        (nested((xz_with_window, XZ_192_MB), (xz_with_window, XZ_96_MB)), ("xz", "xz")),
        (nested((xz_with_window, XZ_192_MB), (xz_with_window, XZ_192_MB)), ("xz",)),
        (nested(*[(zstd_with_window, 27)] * 3), ("zstd", "zstd")),
    ],
    ids=["one", "zstd --long twice", "xz twice", "the second asks for too much", "the third asks for too much"],
)
def test_a_compression_inside_another_one_gets_half_of_the_memory(check, content, kinds):
    report = check(content)

    assert ("good", kinds) == (report.outcome, report.kinds)


GROWTH = r"""
import io, re, sys
from pathlib import Path
from frepo_integrity.budget import Budget
from frepo_integrity.inspection import Inspection, inspect

def reserved(name):
    return int(re.search(name + r":\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) << 10

content = sys.stdin.buffer.read()
inspection = Inspection(budget=Budget(len(content), max_output=1 << 30, max_ratio=1100))
before = reserved("VmSize")
inspect(io.BytesIO(content), len(content), "dump", inspection)
print(reserved("VmPeak") - before)
"""


@pytest.mark.parametrize("windows", [(XZ_192_MB,) * 4, (XZ_192_MB, XZ_96_MB, XZ_48_MB, XZ_24_MB)], ids=["same", "half"])
def test_four_compressions_inside_each_other_use_less_than_512_mb(windows):
    content = nested(*((xz_with_window, window) for window in windows))

    # The decompressor of xz reserves its window at once. In a process of its own, as the kernel keeps only the peak.
    done = subprocess.run([sys.executable, "-c", GROWTH], input=content, stdout=subprocess.PIPE, check=True)

    assert 192 << 20 < int(done.stdout) < 512 << 20


def test_a_kind_that_is_switched_off_is_not_unpacked(check):
    content = COMPRESSORS["gzip"]["python"](rows(1000))[:-4]

    report = check(content, is_on=lambda kind: kind != "gzip")

    assert ("not checked", "The check of gzip is switched off") == (report.outcome, report.message)
