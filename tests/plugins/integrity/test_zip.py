"""zip archives: the directory, each member's header, checksum and size."""

import random
import subprocess
import zipfile
from io import BytesIO

import pytest

from frepo_integrity.outcomes import BrokenContent
from support.compressors import COMPRESSORS, archive_of, rows, streamed_zip_of, zip_of

DATA = rows(30_000)
MADE = {
    "deflated": zip_of(DATA),
    "stored": zip_of(DATA, method=zipfile.ZIP_STORED),
    "bzip2": zip_of(DATA, method=zipfile.ZIP_BZIP2),
    "streamed": streamed_zip_of(DATA),
    "zip64": zip_of(DATA, zip64=True),
    "with a comment": zip_of(DATA, comment=b"made by a test, with PK\x05\x06 in it"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    (folder / "a.sql").write_bytes(DATA)
    (folder / "b").mkdir()
    (folder / "b/ä.txt").write_bytes(DATA[:100])
    return folder


@pytest.fixture(params=MADE)
def made(request):
    return MADE[request.param]


def test_a_whole_archive_is_good(check, check_quickly, made):
    assert ("good", ("zip",)) == (check(made).outcome, check(made).kinds)
    assert "pending" == check_quickly(made).outcome


def test_every_cut_is_found(check, check_quickly, made):
    cuts = [len(made) * tenth // 10 for tenth in range(10)] + [len(made) - missing for missing in range(1, 60)]

    for cut in cuts:
        assert isinstance(check(made[:cut], "a.zip"), BrokenContent), cut
        assert cut < 4 or isinstance(check_quickly(made[:cut], "a.zip"), BrokenContent), cut


def test_a_changed_content_is_found(check, check_quickly, made):
    place = made.index(b"a.sql") + 5 + 300
    changed = bytearray(made)
    changed[place] ^= 8

    broken = check(bytes(changed))

    assert isinstance(broken, BrokenContent)
    assert "the member 'a.sql'" in broken.message
    assert "pending" == check_quickly(bytes(changed)).outcome


def test_a_changed_byte_is_found_unless_python_unpacks_the_same(check):
    content = zip_of(rows(600))
    names = {member.filename: zipfile.ZipFile(BytesIO(content)).read(member) for member in members(content)}
    chance = random.Random(8)
    for place in range(4, len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << chance.randrange(8)
        if check(bytes(changed)).__class__ is not BrokenContent and "good" == check(bytes(changed)).outcome:
            archive = zipfile.ZipFile(BytesIO(bytes(changed)))
            assert names == {member.filename: archive.read(member) for member in archive.infolist()}, place


def members(content):
    return zipfile.ZipFile(BytesIO(content)).infolist()


def test_bytes_after_the_end_are_found(check, made):
    assert "bytes follow its end" in check(made + b"garbage").message
    assert "good" == check(made + bytes(1000)).outcome


def test_an_archive_without_members_is_broken(check):
    file = BytesIO()
    zipfile.ZipFile(file, "w").close()

    assert "The zip archive is not whole: there is nothing in it" == check(file.getvalue()).message


@pytest.mark.costly
def test_more_members_than_16_bits_count(check):
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(66_000):
            archive.writestr(f"{number}", b"")
    content = file.getvalue()

    assert "good" == check(content).outcome


def test_encrypted_members_are_not_checked(check, folder):
    content = archive_of(folder, "zip", "-q", "-r", "-P", "secret", "-", "a.sql", "b")

    report = check(content)

    assert "not checked" == report.outcome
    assert "2 of 3 members" in report.message
    assert isinstance(check(content[:-1]), BrokenContent)


def test_a_method_that_python_does_not_know_is_not_checked(check):
    content = zip_of(DATA, method=zipfile.ZIP_LZMA)

    assert "not checked" == check(content).outcome


def test_a_part_of_several_is_not_checked(check, folder, tmp_path):
    (tmp_path / "a").write_bytes(random.Random(1).randbytes(150_000))
    subprocess.run(["zip", "-q", "-s", "64k", "split.zip", "a"], cwd=tmp_path, check=True)

    report = check((tmp_path / "split.zip").read_bytes(), "split.zip")

    assert "not checked" == report.outcome


def test_a_damaged_directory_is_found_quickly(check_quickly, made):
    changed = bytearray(made)
    changed[made.index(b"PK\x01\x02") + 1] ^= 1

    assert isinstance(check_quickly(bytes(changed)), BrokenContent)


def test_of_a_zip_in_a_compression_the_end_is_checked(check):
    pack = COMPRESSORS["gzip"]["python"]
    for name, content in MADE.items():
        report = check(pack(content))

        assert ("good", ("gzip", "zip")) == (report.outcome, report.kinds), name
        assert "The zip archive has the end of its directory" in report.message
        for size in (len(content) * 6 // 10, len(content) - 1):
            assert isinstance(check(pack(content[:size])), BrokenContent), (name, size)


DUMP = b"-- MySQL dump 10.13\n--\n-- Host: localhost    Database: shop\nINSERT INTO a VALUES (1);\n-- Dump completed\n"


def _single(content, name="shop.sql"):
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("name", ["shop.sql", "var/backups/shop.sql", "-"])
def test_a_single_dump_in_an_archive_is_checked(check, check_quickly, name):
    """`mariadb-dump shop | zip > shop.zip` names it `-`. If the program is killed, zip ends as it should."""
    whole = check(_single(DUMP, name), "shop.zip")
    cut = check(_single(DUMP[:-20], name), "shop.zip")

    assert ("good", "content", ("zip", "MySQL/MariaDB dump")) == (whole.outcome, whole.covers, whole.names)
    assert "shop" == whole.database
    assert isinstance(cut, BrokenContent)
    assert ("sql", ("zip", "sql"), "broken") == (cut.kind, cut.kinds, cut.verdict)
    assert "suspicious" == check(_single(b"bash: mariadb-dump: command not found\n", name), "shop.sql.zip").verdict
    assert "pending" == check_quickly(_single(DUMP[:-20], name), "shop.zip").outcome


def test_a_single_dump_in_an_archive_that_is_damaged(check):
    content = bytearray(_single(DUMP[:-20]))
    content[content.index(b"PK\1\2") + 16] ^= 1

    assert ("zip", "broken") == (check(bytes(content)).kind, check(bytes(content)).verdict)


def test_nothing_in_a_single_member_is_broken(check):
    for name in ("-", "shop.sql", "shop"):
        assert "there is nothing in it" in check(_single(b"", name), "shop.zip").message


def test_what_is_no_single_dump_says_nothing_about_the_archive(check):
    for content, name in ((rows(300), "notes"), (rows(300), "-"), (DUMP[:-20], "notes.txt")):
        report = check(_single(content, name), "shop.zip")

        assert ("good", "container", ("zip",)) == (report.outcome, report.covers, report.kinds), name


def _of_names(*names, content=b"x"):
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, b"" if name.endswith("/") else content)
    return file.getvalue()


def test_a_folder_of_one_dump_is_looked_into_as_in_tar(check):
    """`zip -r shop.zip shop` of the folder of a program that was killed."""
    pg_dump = check(_of_names("shop/", "shop/3021.dat.gz", "shop/3022.dat.gz"))
    mydumper = check(_of_names("shop.orders.00000.sql.gz", "metadata.partial"))
    single = check(_of_names("backups/", "backups/shop.sql", content=DUMP[:-20]))

    assert ["suspicious", "suspicious", "broken"] == [one.verdict for one in (pg_dump, mydumper, single)]
    assert "pg_dump -Fd without toc.dat" in pg_dump.message
    whole = [_of_names("shop/", "shop/3021.dat.gz", "README"), _of_names("a.sql", "b.sql", content=DUMP[:-20])]
    whole += [_of_names("metadata", "shop.orders.00000.sql.gz"), _of_names("3021.dat.gz", "x")]
    assert ["good"] * 4 == [check(content).outcome for content in whole]
    assert "content" == check(_of_names("backups/", "backups/shop.sql", content=DUMP)).covers
    toc = b"PGDMP\1\x0e\0\4\x08\3"
    assert ("content", "PostgreSQL archive") == (
        check(_of_names("shop/toc.dat", "shop/3021.dat.gz", content=toc)).covers,
        check(_of_names("shop/toc.dat", "shop/3021.dat.gz", content=toc)).names[-1],
    )


def test_an_archive_of_folders_is_suspicious(check):
    """`zip -r srv.zip /srv` of a disk that is not mounted."""
    found = check(_of_names("srv/", "srv/www/"))

    assert ("suspicious", "The zip archive has only folders, and no file") == (found.verdict, found.message)
