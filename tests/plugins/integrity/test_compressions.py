"""gzip, bzip2, xz, zstd and lz4: whole files are good; cut, changed and extended ones are broken."""

import bz2
import gzip
import lzma
import random
import subprocess

import lz4.frame
import pytest

from frepo_integrity.outcomes import BrokenContent
from support.compressors import COMPRESSORS, rows, zstd

DATA = rows(60_000)
SHORT = rows(400)
KINDS = tuple(COMPRESSORS)
MADE = [(kind, way) for kind, ways in COMPRESSORS.items() for way in ways]
SUFFIX = {"gzip": "gz", "bzip2": "bz2", "xz": "xz", "zstd": "zst", "lz4": "lz4"}
# A change of the first bytes makes a content of an unknown format, or (zstd) one that needs more memory than there is.
MAGIC = {"gzip": 3, "bzip2": 10, "xz": 6, "zstd": 6, "lz4": 4}
DECOMPRESS = {
    "gzip": gzip.decompress,
    "bzip2": bz2.decompress,
    "xz": lzma.decompress,
    "zstd": zstd.decompress,
    "lz4": lz4.frame.decompress,
}


def first(kind, data=DATA):
    return next(iter(COMPRESSORS[kind].values()))(data)


@pytest.fixture(scope="module", params=MADE, ids=lambda made: made[1])
def made(request):
    kind, way = request.param
    return kind, COMPRESSORS[kind][way](DATA)


def test_a_whole_file_is_good_also_with_padding_or_a_line_end(check, made):
    kind, content = made
    report = check(content)
    assert ("good", (kind,)) == (report.outcome, report.kinds)
    assert ["good"] * 3 == [check(content + end).outcome for end in (bytes(2048), b"\n", b"\r\n")]


def test_a_file_cut_at_each_tenth_is_broken(check, made):
    kind, content = made
    cuts = [len(content) * tenth // 10 for tenth in range(10)] + [len(content) - missing for missing in range(1, 30)]

    found = {cut: check(content[:cut], f"db.sql.{SUFFIX[kind]}") for cut in cuts}

    assert [] == [cut for cut, result in found.items() if not isinstance(result, BrokenContent)]
    assert {kind} == {broken.kind for broken in found.values()}


def test_the_only_cut_that_cannot_be_seen_is_between_two_members(check):
    for kind in KINDS:
        whole = first(kind, SHORT)
        content = whole + first(kind, SHORT[:50])

        unseen = [
            cut
            for cut in range(len(content))
            if not isinstance(check(content[:cut], f"a.{SUFFIX[kind]}"), BrokenContent)
        ]

        assert [len(whole)] == unseen


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_byte_is_found_unless_it_changes_nothing(check, kind):
    """Some bits pad a block to whole bytes, and the header of gzip has a time and a name, which nothing protects."""
    data = rows(3000)
    content = first(kind, data)
    chance = random.Random(5)

    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << chance.randrange(8)
        result = check(bytes(changed))
        if not isinstance(result, BrokenContent) and (result.outcome == "good" or place >= MAGIC[kind]):
            assert data == DECOMPRESS[kind](bytes(changed)), place


def test_bytes_after_the_end_are_found(check, made):
    kind, content = made

    for garbage in (b"garbage", b"\0\0\0x", content[:3], b"-- Dump completed\n"):
        broken = check(content + garbage)
        assert isinstance(broken, BrokenContent), garbage
        assert kind == broken.kind


def test_a_compressed_nothing_is_broken(check):
    for kind in KINDS:
        content = first(kind, b"")

        assert f"The {kind} data is whole, but there is nothing in it" == check(content, f"log.{SUFFIX[kind]}").message
        broken = check(content, f"db.sql.{SUFFIX[kind]}")
        assert isinstance(broken, BrokenContent)
        assert "sql" == broken.kind
        assert "There is nothing in db.sql" in broken.message


def test_a_compression_in_a_compression_is_checked(check):
    for inner in KINDS:
        content = first("gzip", first(inner))
        cut = first("gzip", first(inner)[:-5])

        assert ("gzip", inner) == check(content).kinds
        broken = check(cut)
        assert (inner, "gzip") == (broken.kind, broken.kinds[0])


def test_skippable_frames_are_skipped(check):
    for kind in ["zstd", "lz4"]:
        frame = b"\x53\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"

        assert (kind,) == check(frame + first(kind) + frame).kinds
        for cut in (1, 6, 9):
            assert isinstance(check(first(kind) + frame[:-cut]), BrokenContent)


def test_what_needs_a_dictionary_is_not_checked(check, tmp_path):
    (tmp_path / "samples").mkdir()
    for number in range(200):
        (tmp_path / f"samples/{number}").write_bytes(rows(900, seed=number))
    samples = [f"samples/{number}" for number in range(200)]
    for command in (["--train", *samples, "-o", "dictionary"], ["-D", "dictionary", "samples/1", "-o", "a.zst"]):
        subprocess.run(["zstd", "-q", *command], cwd=tmp_path, check=True, capture_output=True)

    content = (tmp_path / "a.zst").read_bytes()

    report = check(content)
    assert "not checked" == report.outcome
    assert "needs the dictionary" in report.message
    # The compression around it is checked all the same.
    assert "good" == check(first("gzip", content)).outcome
    assert isinstance(check(first("gzip", content)[:-1]), BrokenContent)


def test_what_needs_too_much_memory_is_not_checked(check):
    content = subprocess.run(
        ["zstd", "-q", "--ultra", "--long=30", "-c"], input=DATA, stdout=subprocess.PIPE, check=True
    ).stdout
    # A piped content has no size in its header, so its window is as large as was asked for.
    report = check(content)

    assert "not checked" == report.outcome
    assert "too much memory" in report.message


def test_the_quick_check_of_xz_reads_its_index(check_quickly):
    for make in COMPRESSORS["xz"].values():
        content = make(DATA)
        assert "pending" == check_quickly(content).outcome
        assert "pending" == check_quickly(content + bytes(64)).outcome
        for cut in [len(content) * tenth // 10 for tenth in range(1, 10)] + [len(content) - 1, len(content) - 4]:
            assert isinstance(check_quickly(content[:cut]), BrokenContent), cut
        assert isinstance(check_quickly(content + b"garbage!"), BrokenContent)


def test_the_quick_check_of_the_others_leaves_them_to_the_job(check_quickly):
    for kind in ["gzip", "bzip2", "zstd", "lz4"]:
        assert "pending" == check_quickly(first(kind)[:-100]).outcome
