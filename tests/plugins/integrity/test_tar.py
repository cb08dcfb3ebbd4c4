"""tar archives: headers, sizes and the end. The contents of members have no checksum in this format."""

import gzip
import io
import tarfile

import pytest

from frepo_integrity.outcomes import BrokenContent
from support.compressors import archive_of, rows, tar_of
from support.scale import IS_ALL

DATA = rows(40_000)
FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def test_the_number_of_members_is_told(check):
    for form in FORMATS.values():
        content = tar_of(DATA, format=form)

        assert "The tar archive is whole, it has 4 members" == check(content).message


def test_a_cut_before_the_end_is_found(check, check_quickly):
    """What follows the two blocks of zeros is padding, and some programs write none: a cut there cannot be seen."""
    for form in FORMATS.values():
        content = tar_of(DATA, format=form)
        end = len(content.rstrip(b"\0"))
        end += -end % 512 + 1024
        # Each byte of the last blocks in the costly form; otherwise some, and those next to the ends of blocks.
        near_ends = [end - blocks * 512 + step for blocks in (2, 1, 0) for step in (-1, 0, 1)]
        last = range(end - 1100, end) if IS_ALL else [*range(end - 1100, end, 97), *near_ends]
        cuts = [len(content) * tenth // 10 for tenth in range(10)] + [*last]

        for cut in (cut for cut in cuts if cut < end):
            assert isinstance(check(content[:cut], "a.tar"), BrokenContent), cut
            if cut:
                assert isinstance(check_quickly(content[:cut], "a.tar"), BrokenContent) or cut < 512, cut
        for cut in (end, end + 1, end + 513):
            assert "good" == check(content[:cut]).outcome


def test_an_archive_that_was_not_closed_is_broken(check):
    file = io.BytesIO()
    archive = tarfile.open(fileobj=file, mode="w")  # noqa: SIM115  # not closed: that is the test
    member = tarfile.TarInfo("a")
    member.size = 512
    archive.addfile(member, io.BytesIO(bytes(range(256)) * 2))

    broken = check(file.getvalue())

    assert isinstance(broken, BrokenContent)
    assert "a header is missing" in broken.message


def test_a_changed_byte_in_a_header_is_found(check):
    content = tar_of(b"", format=tarfile.USTAR_FORMAT)
    used = [place for place in range(2048) if content[place]]

    for place in used:
        changed = bytearray(content)
        changed[place] ^= 0x04
        result = check(bytes(changed), "a.tar")
        # A tar archive is recognized by its magic or by a right checksum; blanks in the checksum count as zeros.
        assert isinstance(result, BrokenContent) or place in {*range(148, 156), *range(257, 265)}, (place, result)


def test_a_wrong_checksum_of_the_first_header_is_found_by_its_magic(check):
    content = bytearray(tar_of(DATA))
    content[0] ^= 1

    assert "The checksum of the tar header at byte 0 is wrong" == check(bytes(content)).message


def test_bytes_after_the_end_are_found(check):
    assert isinstance(check(tar_of(DATA) + b"garbage"), BrokenContent)


def test_archives_one_after_the_other_are_checked_to_the_last(check):
    second = tar_of(DATA[:5000])
    content = tar_of(DATA) + second

    assert "it has 8 members" in check(content).message
    assert isinstance(check(content[: 3000 - len(second)]), BrokenContent)


def test_a_member_of_more_than_8_gib_is_skipped_by_its_size(check_quickly):
    """Its size is in binary (GNU) or in a pax header."""
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        member = tarfile.TarInfo("large")
        member.size = 9 << 30
        header = member.tobuf(form)

        broken = check_quickly(header + bytes(1024))

        assert isinstance(broken, BrokenContent)
        assert "within a member" in broken.message


def test_an_archive_in_a_compression_is_checked(check):
    for compress in ["gzip", "xz", "zstd"]:
        from support.compressors import COMPRESSORS

        pack = COMPRESSORS[compress][compress]

        assert ("good", (compress, "tar")) == (check(pack(tar_of(DATA))).outcome, check(pack(tar_of(DATA))).kinds)
        broken = check(pack(tar_of(DATA)[:20_000]))
        assert (broken.kind, broken.kinds) == ("tar", (compress, "tar"))


DUMP = (
    b"-- MySQL dump 10.13  Distrib 8.0.36\n--\n-- Host: db    Database: shop\n%s\n"
    b"-- Dump completed on 2026-03-01  2:00:07\n"
)


def archive(members):
    """Return an archive of these files, whose names are the keys."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as made:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return file.getvalue()


def test_an_archive_of_one_dump_is_that_dump(check, check_quickly):
    dump = DUMP % rows(20_000)
    for name, pack in {"shop.sql": bytes, "./backup/shop.sql.gz": gzip.compress}.items():
        whole, cut = archive({name: pack(dump)}), archive({name: pack(dump[:-100])})

        report, broken = check(whole), check(gzip.compress(cut))
        assert ("good", "content", "shop") == (report.outcome, report.covers, report.database)
        assert "MySQL/MariaDB dump" == report.names[-1]
        assert isinstance(broken, BrokenContent) and ("sql", "gzip", "tar") == (broken.kind, *broken.kinds[:2])
        assert ("pending", "pending") == (check_quickly(whole).outcome, check_quickly(cut).outcome)


def test_a_cut_dump_among_other_files_is_what_somebody_has_kept(check, check_quickly):
    content = archive({"old.sql": (DUMP % rows(20_000))[:-100], "notes.txt": b"a text"})

    for function in (check, check_quickly):
        assert ("good", "container") == (function(content).outcome, function(content).covers)


def test_the_files_of_a_dump_without_its_contents_are_suspicious(check, check_quickly):
    data = {"shop/3456.dat.gz": gzip.compress(b"1\n"), "shop/3457.dat.gz": b""}

    for function in (check, check_quickly):
        assert "suspicious" == function(archive(data)).verdict
        assert "good" == function(archive(data | {"notes.txt": b"a text"})).outcome
        assert "good" == function(archive({f"2026030{day}.dat.gz": b"a measurement" for day in range(9)})).outcome


def test_a_kind_that_is_switched_off_is_not_checked_inside_an_archive(check, check_quickly):
    members = {
        "pgdump": {"shop/3456.dat.gz": gzip.compress(b"1\n"), "shop/3457.dat.gz": b""},
        "sql": {"shop.sql": (DUMP % DATA)[:-100]},
        "gzip": {"shop.dump.gz": gzip.compress(DATA)[:-100]},
        "rdb": {"dump.rdb": b"REDIS0011" + DATA},
    }
    for kind, content in members.items():
        for function in (check, check_quickly):
            report = function(archive(content), is_on=lambda asked, kind=kind: asked != kind)
            assert not isinstance(report, BrokenContent) and report.covers == "container", kind
        assert isinstance(check(archive(content)), BrokenContent), kind


def test_an_archive_of_a_disk_that_is_not_mounted_has_only_folders(tmp_path, check):
    (tmp_path / "var/lib").mkdir(parents=True)

    found = check(gzip.compress(archive_of(tmp_path, "tar", "-c", ".")))

    assert isinstance(found, BrokenContent)
    assert ("suspicious", ("gzip", "tar")) == (found.verdict, found.kinds)
    assert "The tar archive has only folders, and no file" == found.message


def test_an_incremental_archive_without_changes_is_whole(tmp_path, check):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.sql").write_bytes(DATA)
    command = ("tar", "-c", f"--listed-incremental={tmp_path / 'state'}", "data")
    archive_of(tmp_path, *command)

    assert "good" == check(archive_of(tmp_path, *command)).outcome


def archive_of_names(*names):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name))
    return file.getvalue()


@pytest.mark.parametrize("folder", ["", "./", "dump-20261128/"])
def test_a_folder_of_mydumper_that_had_not_ended_is_suspicious(check, folder):
    """It renames metadata.partial at its end."""
    data = [f"{folder}shop-schema-create.sql.gz", f"{folder}shop.orders.00000.sql.gz"]
    whole = check(archive_of_names(*data, f"{folder}metadata"))
    unfinished = check(archive_of_names(*data, f"{folder}metadata.partial"))
    of_others = check(archive_of_names(*data, f"{folder}metadata.partial", "etc/hosts"))

    assert ("good", "suspicious", "good") == (whole.outcome, unfinished.verdict, of_others.outcome)
    assert "mydumper that had not ended" in unfinished.message
