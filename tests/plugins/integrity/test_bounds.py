"""Bombs: what unpacks to far more than it is ends as not checked, soon and in little memory."""

import io
import subprocess
import sys
import tarfile
import time
import tracemalloc
import zipfile

import pytest

from frepo_integrity import inspection
from frepo_integrity.outcomes import BrokenContent, OutOfMemory, OutOfTime
from frepo_integrity.upload_check import MEMORY
from support.compressors import COMPRESSORS, rows, zstd
from support.hostile_contents import (
    COSTLY,
    XZ_2_MB,
    XZ_4_MB,
    XZ_8_MB,
    XZ_16_MB,
    XZ_24_MB,
    XZ_48_MB,
    XZ_96_MB,
    XZ_192_MB,
    xz_with_window,
    zstd_with_window,
)

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


@pytest.mark.costly
def test_a_bomb_is_not_checked_because_of_its_ratio(check, bomb):
    tracemalloc.start()
    started = time.thread_time()
    report = check(bomb, max_ratio=100)
    seconds, (_, peak) = time.thread_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert "not checked" == report.outcome
    assert "more than 100 times its size, see integrity.max_ratio" in report.message
    assert peak < 20 << 20
    assert seconds < 20


@pytest.mark.costly
def test_a_bomb_is_not_checked_because_of_its_size(check, bomb):
    report = check(bomb, max_output=10 << 20, max_ratio=1e9)

    assert "not checked" == report.outcome
    assert "more than 10.5 MB, see integrity.max_output" in report.message


def test_a_check_ends_when_its_time_is_over(check):
    content = COMPRESSORS["gzip"]["python"](ZEROS)

    with pytest.raises(OutOfTime):
        check(content, deadline=time.monotonic())


@pytest.mark.parametrize("name", COSTLY)
def test_a_check_ends_when_the_processor_has_worked_long_enough(check, name):
    content = COSTLY[name]()
    before = time.thread_time()

    with pytest.raises(OutOfTime):
        check(content, processor_seconds=0.02, max_ratio=1e9)

    # The processor's time, which no other process changes: no step between two looks at the budget costs much.
    assert time.thread_time() - before < 0.5


SKIPPABLE = b"\x50\x2a\x4d\x18" + bytes(4)


@pytest.mark.costly
def test_a_check_of_what_unpacks_to_nothing_ends_in_time_too(check):
    for content in [
        COMPRESSORS["zstd"]["python"](b"a") + SKIPPABLE * 100_000,
        COMPRESSORS["gzip"]["python"](b"a") + bytes(16 << 20),
        tar_of("a") + bytes(16 << 20),
        sparse_map(100_000),
    ]:
        ticks = []

        check(content, tick=lambda ticks=ticks: ticks.append(time.monotonic()))

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


@pytest.mark.costly
def test_zeros_that_gzip_compresses_a_thousand_times_are_checked(check):
    assert "good" == check(COMPRESSORS["gzip"]["gzip -9"](ZEROS)).outcome


def test_only_so_many_compressions_in_each_other_are_unpacked(check):
    pack = COMPRESSORS["gzip"]["python"]
    content = rows(100)
    for _ in range(30):
        content = pack(content)

    report = check(content)

    assert ("good", ("gzip",) * 5) == (report.outcome, report.kinds)
    assert "gzip inside a compression cannot be checked" in report.message
    assert isinstance(check(content[:-1]), BrokenContent)


def nested(*layers):
    """Return a text in these compressions, the outermost first."""
    content = rows(2000)
    for make, window in reversed(layers):
        content = make(content, window)
    return content


def test_a_compression_inside_another_one_gets_half_of_the_memory(check):
    for content, kinds in [
        (nested((xz_with_window, XZ_192_MB)), ("xz",)),
        (nested((zstd_with_window, 27), (zstd_with_window, 27)), ("zstd", "zstd")),
        (nested((xz_with_window, XZ_192_MB), (xz_with_window, XZ_96_MB)), ("xz", "xz")),
        (nested((xz_with_window, XZ_192_MB), (xz_with_window, XZ_192_MB)), ("xz",)),
        (nested(*[(zstd_with_window, 27)] * 3), ("zstd", "zstd")),
    ]:
        report = check(content)

        assert ("good", kinds) == (report.outcome, report.kinds)


GROWTH = r"""
import contextlib, io, re, sys
from pathlib import Path
from frepo_integrity.budget import Budget
from frepo_integrity.inspection import Inspection, inspect
from frepo_integrity.outcomes import OutOfMemory

def reserved(name):
    return int(re.search(name + r":\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) << 10

content = sys.stdin.buffer.read()
inspection = Inspection(budget=Budget(len(content), max_output=1 << 30, max_ratio=1100), memory=int(sys.argv[1]))
before = reserved("VmSize")
with contextlib.suppress(OutOfMemory):
    inspect(io.BytesIO(content), len(content), "dump", inspection)
print(reserved("VmPeak") - before)
"""


def growth(content, memory):
    """Return by how many bytes the check of a content makes its process larger. The kernel keeps only the peak."""
    command = [sys.executable, "-c", GROWTH, str(memory)]
    return int(subprocess.run(command, input=content, stdout=subprocess.PIPE, check=True).stdout)


@pytest.mark.costly
@pytest.mark.parametrize("windows", [(XZ_192_MB,) * 4, (XZ_192_MB, XZ_96_MB, XZ_48_MB, XZ_24_MB)], ids=["same", "half"])
def test_four_compressions_inside_each_other_use_less_than_512_mb(windows):
    content = nested(*((xz_with_window, window) for window in windows))

    # The decompressor of xz reserves its window at once.
    assert 192 << 20 < growth(content, inspection.MEMORY) < 512 << 20


@pytest.mark.costly
@pytest.mark.parametrize(
    "layers",
    [
        ((xz_with_window, XZ_192_MB),),
        ((zstd_with_window, 27),),
        ((xz_with_window, XZ_16_MB), (xz_with_window, XZ_8_MB), (xz_with_window, XZ_4_MB), (xz_with_window, XZ_2_MB)),
        ((zstd_with_window, 24), (zstd_with_window, 23), (zstd_with_window, 22), (zstd_with_window, 21)),
    ],
    ids=["xz", "zstd", "four times xz", "four times zstd"],
)
def test_the_check_of_an_upload_uses_less_than_64_mb(layers):
    assert growth(nested(*layers), MEMORY) < 64 << 20


def test_what_needs_more_memory_than_an_upload_may_use_says_so(check):
    for layer in [(xz_with_window, XZ_96_MB), (zstd_with_window, 27)]:
        for outer in [(), ((zstd_with_window, 20),)]:
            content = nested(*outer, layer)

            with pytest.raises(OutOfMemory):
                check(content, memory=MEMORY)
            assert "good" == check(content).outcome


def test_a_kind_that_is_switched_off_is_not_unpacked(check):
    content = COMPRESSORS["gzip"]["python"](rows(1000))[:-4]

    report = check(content, is_on=lambda kind: kind != "gzip")

    assert ("not checked", "The check of gzip is switched off") == (report.outcome, report.message)
