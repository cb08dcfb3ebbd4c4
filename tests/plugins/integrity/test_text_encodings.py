"""Dumps with a byte order mark or in UTF-16, as PowerShell writes them, and contents of one byte only."""

import codecs
import gzip

import pytest

from frepo_integrity.outcomes import BrokenContent
from support.compressors import rows, tar_of

MYSQL = (
    b"-- MySQL dump 10.13  Distrib 8.0.40\n--\n-- Host: localhost    Database: shop\n%s\n-- Dump completed on 2026\n"
)
WITHOUT_COMMENTS = (
    b"/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;\n"
    b"/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;\n%s\n/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;\n"
)
POSTGRESQL = b"--\n-- PostgreSQL database dump\n--\n\n%s\n--\n-- PostgreSQL database dump complete\n--\n\n"
SQLITE = b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n%s\nCOMMIT;\n"
XML = b'<?xml version="1.0"?>\n<mysqldump xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n%s\n</mysqldump>\n'
DUMPS = [MYSQL, WITHOUT_COMMENTS, POSTGRESQL, SQLITE, XML]
ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-be", "utf-32")
WITHOUT_MARK = ("utf-16-le", "utf-16-be")


def encode(dump, encoding):
    """Return the dump with the line ends and the mark that Windows writes."""
    text = dump.decode().replace("\n", "\r\n")
    return (codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b"") + text.encode(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_dump_in_another_encoding_is_judged_as_one_in_utf_8(check, check_quickly, encoding):
    for dump in DUMPS:
        whole = encode(dump % rows(20_000), encoding)
        for content, name in ((whole, "shop.sql"), (gzip.compress(whole), "shop.sql.gz")):
            report = check(content, name)
            assert ("good", "content", "sql") == (report.outcome, report.covers, report.kinds[-1]), dump
        for size in (len(whole) // 2, len(whole) * 9 // 10 + 1, len(whole) - 400):
            assert isinstance(check(whole[:size]), BrokenContent), (dump, size)
        assert "pending" == check_quickly(whole).outcome
    assert "shop" == check(encode(MYSQL % b"", encoding)).database


@pytest.mark.parametrize("encoding", WITHOUT_MARK)
def test_utf_16_without_a_mark_is_recognised(check, check_quickly, encoding):
    for dump in DUMPS:
        whole = (dump % rows(20_000)).decode().encode(encoding)

        assert ("good", "content") == (check(whole).outcome, check(whole).covers), dump
        assert isinstance(check(whole[:-401]), BrokenContent), dump
        assert "pending" == check_quickly(whole).outcome


def test_what_is_no_text_is_destroyed_by_an_encoding(check):
    content = codecs.BOM_UTF16_LE + gzip.compress(rows(3000)).decode("cp437").encode("utf-16-le")

    found = check(content, "shop.sql.gz")

    assert ("suspicious", "gzip") == (found.verdict, found.kind)
    assert "It was written as text, as `>` of PowerShell does, so it is no gzip data any more" == found.message
    assert "not checked" == check(content, "notes").outcome


def test_an_error_message_in_another_encoding_is_one(check):
    for encoding in ENCODINGS:
        found = check(encode(b"pg_dump: error: connection to server failed\n", encoding), "shop.sql")
        assert ("suspicious", True) == (found.verdict, "connection to server failed" in found.message), encoding
        nothing = check(encode(b"", encoding), "shop.sql")
        assert isinstance(nothing, BrokenContent), encoding


def test_a_text_in_another_encoding_is_not_checked(check):
    for encoding in ENCODINGS:
        assert "not checked" == check(encode(b"a text of somebody\nand more\n" * 900, encoding), "letter").outcome


REPEATED = {
    "zeros": bytes(30_000),
    "a few zeros": bytes(5),
    "ones": b"\xff" * 30_000,
    "a letter": b"a" * 5000,
    "line ends": b"\r\n" * 9000,
}


@pytest.mark.parametrize("what", REPEATED)
def test_a_content_of_one_byte_only_is_suspicious_where_a_backup_should_be(check, check_quickly, what):
    content = REPEATED[what]
    for name, one in (("shop.sql", content), ("shop.dump", content), ("shop.sql.gz", gzip.compress(content))):
        found = check(one, name)
        assert isinstance(found, BrokenContent) and "suspicious" == found.verdict, name
        assert "where a backup should be" in found.message

    neutral = check(content, "swap")
    assert ("not checked", ("text",)) == (neutral.outcome, neutral.kinds)
    assert "pending" == check_quickly(content, "shop.sql").outcome


def test_one_other_byte_makes_a_content_of_its_own(check):
    for content in (bytes(20_000) + b"1", b"1" + bytes(20_000)):
        assert ("not checked", ()) == (check(content, "shop.sql").outcome, check(content, "shop.sql").kinds)


def test_an_archive_of_nothing_is_still_one(check):
    assert "The tar archive is whole, but there is nothing in it" == check(bytes(10_240), "a.tar").message
    assert "The gzip data ends too early, after 1 bytes" == check(b"\x1f", "a.gz").message
    assert "good" == check(tar_of(bytes(5000))).outcome
