"""Bombs: what unpacks to far more than it is ends as not checked, soon and in little memory."""

import io
import tarfile
import time
import tracemalloc
import zipfile

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


def test_a_kind_that_is_switched_off_is_not_unpacked(check):
    content = COMPRESSORS["gzip"]["python"](rows(1000))[:-4]

    report = check(content, is_on=lambda kind: kind != "gzip")

    assert ("not checked", "The check of gzip is switched off") == (report.outcome, report.message)
