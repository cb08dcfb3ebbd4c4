"""The check of a dump before it is encrypted: a cut one is found, a whole one never suspected."""

import bz2
import gzip
import io
import lzma
import subprocess
import tarfile

import pytest

from frepo_client.content_checks.content_check import ContentCheck
from support.paths import ROOT

ROWS = b"".join(b"INSERT INTO orders VALUES (%d, '%x');\n" % (number, number**7) for number in range(5000))
POSTGRESQL = b"--\n-- PostgreSQL database dump\n--\n%s--\n-- PostgreSQL database dump complete\n--\n\n" % ROWS
MARIADB = b"/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19\n%s-- Dump completed \n" % ROWS
WITHOUT_COMMENTS = (
    b"/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;\n%s\n/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;\n" % ROWS
)
SQLITE = b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n%sCOMMIT;\n" % ROWS


def compress(program, content):
    return subprocess.run([program, "-c"], input=content, check=True, capture_output=True).stdout


def archive(content):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        member = tarfile.TarInfo("shop.sql")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return file.getvalue()


# Whole contents, and what a good check of them has looked at.
WHOLE = {
    "pg_dump": (POSTGRESQL, "content"),
    "mariadb-dump": (MARIADB, "content"),
    "mariadb-dump --skip-comments": (WITHOUT_COMMENTS, "content"),
    "sqlite3": (SQLITE, "content"),
    "tar": (archive(ROWS), "container"),
    "gzip": (gzip.compress(POSTGRESQL), "content"),
    "gzip in two members": (gzip.compress(POSTGRESQL[:99]) + gzip.compress(POSTGRESQL[99:]) + b"\0" * 99, "content"),
    "bzip2": (bz2.compress(MARIADB), "content"),
    "xz in gzip": (gzip.compress(lzma.compress(SQLITE)), "content"),
    "tar in gzip": (gzip.compress(archive(ROWS)), "container"),
    "zstd": (compress("zstd", POSTGRESQL), "container"),
    "zstd in two frames": (compress("zstd", ROWS) + compress("zstd", ROWS), "container"),
    "gzip of a text": (gzip.compress(ROWS), "container"),
}


def look(content, size):
    """Return what is found if the content arrives in pieces of so many bytes."""
    check = ContentCheck()
    for at in range(0, len(content), size):
        check.update(content[at : at + size])
    return check.finish()


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_content_is_good_and_a_cut_one_broken(name):
    content, covers = WHOLE[name]

    for size in (5, 1000, 1 << 20):
        found = look(content, size)
        assert ("good", covers, False) == (found.outcome, found.covers, found.is_empty), size
        for cut in (len(content) * 6 // 10, len(content) - 200):
            assert "broken" == look(content[:cut], size).outcome, (size, cut)


def test_no_file_of_a_program_is_suspected():
    """The file has one of each of a hundred and fifty writers of archives and compressed files."""
    with tarfile.open(ROOT / "tests/support/dumps/written.tar.xz") as written:
        for member in written.getmembers():
            for size in (500, 1 << 20):
                assert "broken" != look(written.extractfile(member).read(), size).outcome, member.name


def test_a_cut_index_of_pixz_is_not_taken_for_a_whole_one():
    whole = archive(ROWS)
    index = bytes.fromhex("a64c322ed614aedb") + b"shop.sql\0" + (512).to_bytes(8, "little")
    index += b"\0" + len(whole).to_bytes(8, "little")

    assert "good" == look(whole + index, 1000).outcome
    for cut in range(1, len(index)):
        assert "broken" == look((whole + index)[:-cut], 1000).outcome, cut


def test_statements_may_follow_a_dump():
    assert "good" == look(POSTGRESQL + b"GRANT ALL ON a TO b;\n" * 10_000, 1000).outcome


def test_an_empty_content_is_found_in_each_compression():
    for empty in (b"", gzip.compress(b""), bz2.compress(b""), lzma.compress(b""), compress("zstd", b"")):
        assert look(empty, 7).is_empty, empty


def test_nothing_is_said_about_an_unknown_content():
    for content in (b"x", b"in no known format", b"CREATE TABLE a (b);\n", bytes(5000)):
        found = look(content, 100)
        assert ("", False) == (found.outcome, found.is_empty)
