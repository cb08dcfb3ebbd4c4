"""What a report says about a content: how far it was looked at, what people call its formats, and its database."""

import gzip

import pytest

from frepo_integrity.outcomes import BrokenContent
from support.compressors import COMPRESSORS, rows, tar_of, zip_of

PG_DUMP = (
    b"--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\n-- Dumped from database version 17.6\n\n"
    b"CREATE DATABASE %s WITH TEMPLATE = template0 ENCODING = 'UTF8';\n\n"
    b"--\n-- PostgreSQL database dump complete\n--\n\n"
)
MYSQL_DUMP = (
    b"-- MariaDB dump 10.19  Distrib 10.11.6-MariaDB\n--\n-- Host: localhost    Database: %s\n"
    b"-- ------------------------------------------------------\n-- Dump completed on 2026-03-01  2:00:07\n"
)
CLUSTER = b"--\n-- PostgreSQL database cluster dump\n--\n\n--\n-- PostgreSQL database cluster dump complete\n--\n\n"


def seen(report):
    return report.covers, report.names, report.database


def test_the_end_of_a_dump_is_its_content(check):
    for content, label, database in [
        (PG_DUMP % b"shop", "PostgreSQL dump", "shop"),
        (PG_DUMP % b'"a shop"', "PostgreSQL dump", "a shop"),
        (PG_DUMP.replace(b"CREATE DATABASE", b"COMMENT ON DATABASE") % b"shop", "PostgreSQL dump", ""),
        (MYSQL_DUMP % b"shop", "MySQL/MariaDB dump", "shop"),
        (MYSQL_DUMP % b"", "MySQL/MariaDB dump", ""),
        (MYSQL_DUMP % b"shop" + MYSQL_DUMP % b"wiki", "MySQL/MariaDB dump", ""),
        (CLUSTER, "PostgreSQL cluster dump", ""),
        (CLUSTER + PG_DUMP % b"shop", "PostgreSQL cluster dump", ""),
        (b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE a (b);\nCOMMIT;\n", "SQLite dump", ""),
    ]:
        assert ("content", (label,), database) == seen(check(content)), content
        assert ("content", ("gzip", label), database) == seen(check(gzip.compress(content))), content


def test_an_intact_container_says_nothing_about_its_content(check):
    for content, kinds in [
        (rows(3000), ("plain text",)),
        (tar_of(rows(3000)), ("tar",)),
        (zip_of(rows(3000)), ("zip",)),
        *((makers["python"](rows(3000)), (kind, "plain text")) for kind, makers in COMPRESSORS.items()),
        (gzip.compress(tar_of(rows(3000))), ("gzip", "tar")),
        (gzip.compress(zip_of(rows(3000))), ("gzip", "zip")),
    ]:
        assert ("container", kinds, "") == seen(check(content)), kinds


def test_a_check_that_is_switched_off_says_nothing_about_formats(check, check_quickly):
    for content, off in [(PG_DUMP % b"shop", "sql"), (tar_of(b"x"), "tar"), (gzip.compress(PG_DUMP % b"shop"), "gzip")]:
        for run in (check, check_quickly):
            assert run(content, is_on=lambda kind, off=off: kind != off).names is None
    packed = check(gzip.compress(PG_DUMP % b"shop"), is_on=lambda kind: kind != "sql")
    assert ("good", "container", None) == (packed.outcome, packed.covers, packed.names)


def test_what_has_no_known_format_is_said_to_be_text_a_log_or_neither(check, check_quickly):
    for content, look in (
        (b"no format at all", "plain text"),
        ("Grün: ".encode("latin-1") * 90, "data"),
        (rows(3000), "plain text"),
        (rows(9000) + b"\0", "plain text"),  # the first 4 KiB decide, or less
        (b"\0" + rows(3000), "data"),
        (b"one\ntwo\n" * 20 + b"tar: /srv: Cannot open: No such file or directory\n", "log"),
    ):
        assert (look,) == check(content).names
        # A log may be a message in front of data, so the job reads it to its end: it is pending until then.
        quick = check_quickly(content)
        assert (look,) == quick.names
        assert ("pending" if look == "log" else "not checked") == quick.outcome, look
        assert ("gzip", look) == check(gzip.compress(content)).names
        assert () == check(content, "build.log").names


# Of `7za a -si db.7z < /dev/null`.
PIPED_7Z = (
    "377abcaf271c00046987631901000000000000003a00000000000000689d2da50001040600010901"
    "00070b0100012121011a0c0000080d00000005010e01800f0180190100140a0100945919b7847fdd"
    "0115060100208080110000"
)
NOTHING = [
    ("db.sql", b""),
    ("db.tar", bytes(10240)),
    ("db.tgz", gzip.compress(bytes(10240))),
    ("db.tar.gz", gzip.compress(bytes(1024))),
    ("notes.txt.gz", gzip.compress(b"")),
    ("db.gz", gzip.compress(gzip.compress(b""))),
    ("db.zip", b"PK\5\6" + bytes(18)),
    ("db.cpio", b"070701" + b"0" * 88 + b"0000000b" + b"0" * 8 + b"TRAILER!!!\0\0\0\0"),
    ("db.age", b"age-encryption.org/v1\n-> X25519 a\nb\n--- c\n" + bytes(32)),
    ("db.gpg", bytes.fromhex("8c0d04090302" + "00" * 9 + "d23501") + bytes(52)),
    ("db.sql.enc", b"Salted__" + bytes(24)),
    ("db.7z", bytes.fromhex(PIPED_7Z)),
    ("db.7z", b"7z\xbc\xaf\x27\x1c\0\4\x8d\x9b\xd5\x0f" + bytes(20)),
]


def test_nothing_in_an_intact_container_is_broken(check):
    for name, content in NOTHING:
        broken = check(content, name)

        assert isinstance(broken, BrokenContent), name
        assert "broken" == broken.verdict
        assert "nothing in" in broken.message or "is empty" in broken.message, name


MESSAGES = [
    'pg_dump: error: connection to server at "db" (10.0.0.5), port 5432 failed: FATAL:  password authentication failed',
    "mysqldump: Got error: 1045: \"Access denied for user 'backup'@'localhost' (using password: YES)\" when trying",
    "bash: line 1: pg_dump: command not found",
    "sh: 1: mysqldump: not found",
    "ssh: connect to host db.example.org port 22: Connection refused",
    "Warning: Permanently added 'db' (ED25519) to the list of known hosts.\nroot@db: Permission denied (publickey).",
    "Error response from daemon: No such container: shop-db-1",
    "curl: (28) Operation timed out after 30000 milliseconds with 0 bytes received",
    "gzip: stdin: unexpected end of file: No space left on device",
    "tar: /srv/data: Cannot open: Permission denied",
    '{"error":"unauthorized","message":"the token has expired"}',
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>',
    "502 Bad Gateway",
    "Killed",
    "mysqldump: [Warning] Using a password on the command line interface can be insecure.",
    "pg_dump: error: query failed: permission denied\npg_dump: detail: Query was: LOCK TABLE public.a IN SHARE MODE;",
    "Traceback (most recent call last):\n  File \"backup.py\", line 3, in <module>\nKeyError: 'PGHOST'",
    "usage: mariadb-dump [OPTIONS] database [tables]",
    " \r\n",
]
PAGES = [
    "<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>",
    "\ufeff\n<html>\r\n<head><title>502 Bad Gateway</title></head></html>" + " " * 5000,
    '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">\n<html/>',
    "<!-- 404 -->\n<HTML lang=en>",
]
BACKUPS = ["db.sql", "db.dump", "db.tar", "db.tar.gz", "db.gz", "db.sql.zst", "db.zip", "db.rdb", "db.tgz", "db.bak"]


@pytest.mark.parametrize("kind", ["text", "html"])
def test_a_message_or_a_page_under_the_name_of_a_backup_is_suspicious(check, kind):
    for text in MESSAGES if kind == "text" else PAGES:
        content = (text + "\n").encode()
        for name in BACKUPS:
            found = check(content, name)
            assert isinstance(found, BrokenContent), (name, text)
            assert ("suspicious", (kind,)) == (found.verdict, found.kinds), (name, text)
            assert "where a backup should be" in found.message
        for name in ("db.sql.gz", "db.gz", "db.tar.gz", "db.dump.gz", "web1.example.org.gz"):
            packed = check(gzip.compress(content), name)
            assert ("suspicious", ("gzip", kind)) == (packed.verdict, packed.kinds), (name, text)
            cut = check(gzip.compress(content)[:-3], name)
            assert ("broken", "gzip") == (cut.verdict, cut.kind), (name, text)


WARNING = b"Warning: Permanently added 'db' (ED25519) to the list of known hosts.\r\n"


@pytest.mark.parametrize("kind", ["gzip", "xz", "zstd", "tar", "pgdump"])
def test_a_message_in_front_of_data_makes_it_unreadable(check, check_quickly, kind):
    """`ssh db pg_dump -Fc shop 2>&1`: no program reads what follows the warning."""
    packed = {name: makers["python"](rows(3000)) for name, makers in COMPRESSORS.items() if name == kind}
    content = (packed | {"tar": tar_of(b"x"), "pgdump": b"PGDMP\1\x0e\0\4\x08\1\1" + bytes(500)})[kind]

    found = check(WARNING + content, "db.dump")

    assert isinstance(found, BrokenContent)
    assert ("suspicious", kind) == (found.verdict, found.kind)
    assert f"A message is in front of the {kind} data, which no program can read then: Warning: Perm" in found.message
    assert "pending" == check_quickly(WARNING + content, "db.dump").outcome


def test_a_message_in_front_of_an_archive_without_members_is_found(check):
    """`tar cf - /nosuch 2>&1 | gzip`: the zeros are all that tar writes."""
    content = b"tar: /nosuch: Cannot stat: No such file or directory\n" + bytes(10240)

    for found in (check(content, "a.tar"), check(gzip.compress(content), "a.tar.gz")):
        assert "suspicious" == found.verdict
        assert "A message is in front of zeros: tar: /nosuch: Cannot stat" in found.message


def test_any_text_in_front_of_what_the_name_promises_makes_it_unreadable(check, check_quickly):
    """`tar -c /srv 2>&1` names what it leaves out of names, and `mariadb-dump --tab` writes statements itself."""
    texts = [
        b"tar: Removing leading `/' from member names\n",
        b"--\n-- Sequence structure\n--\n",
        b"/srv/\n/srv/a\n" * 25,
    ]
    for text in texts:
        for name, content in (
            ("a.tar", tar_of(b"x")),
            ("a.sql.gz", gzip.compress(b"x")),
            ("a.7z", bytes.fromhex(PIPED_7Z)),
        ):
            found = check(text + content, name)

            assert "suspicious" == found.verdict, (text, name)
            assert (
                f"data, which no program can read then: {text.decode().strip('-').split(chr(10))[0]}"[:50]
                in found.message
            )
            assert "pending" == check_quickly(text + content, name).outcome
        dump = b"PGDMP\1\x0e\0\4\x08\1\1" + bytes(500)
        assert "suspicious" == check(text + dump, "a.dump").verdict
        assert "not checked" == check(text + dump, "notes.txt").outcome


def test_a_dump_in_bytes_is_no_dump_behind_a_text(check):
    """A tar archive behind a text holds whole dumps, and may be cut."""
    content = b"a text\n" + tar_of(b"\n" + PG_DUMP % b"shop")

    assert "not checked" == check(content, "a.backup").outcome


def test_other_text_in_front_of_data_is_that_of_a_format(check):
    for start in (b"!<arch>\ndebian-binary   0     `\n2.0\n", b"#!/bin/sh\necho error\nexit 0\n", b"NRRD0004\n\n"):
        assert "not checked" == check(start + gzip.compress(b"x"), "db.dump").outcome


def test_a_message_is_where_it_belongs_under_the_name_of_a_text(check):
    for text in MESSAGES + PAGES:
        content = text.encode()
        for name in ("error.log", "index.html", "notes", "answer.json"):
            assert "not checked" == check(content, name).outcome, (name, text)
        for name in ("error.log.gz", "index.html.gz", "answer.json.gz"):
            report = check(gzip.compress(content), name)
            assert ("good", "container") == (report.outcome, report.covers), (name, text)


HONEST = [
    "# m h dom mon dow command\nMAILTO=root\n0 3 * * * /usr/local/bin/backup || echo backup failed\n",
    "0 3 * * * root /usr/local/bin/backup || echo backup failed\n",
    "UUID=0a / ext4 errors=remount-ro 0 1\n",
    "[Unit]\nDescription=Report what failed\n[Service]\nRestart=on-failure\n",
    "LOG_LEVEL=error\nTZ=UTC\n",
    '{"error": null, "errors": [], "items": [1, 2, 3]}',
    "id,status,error\n1,ok,\n2,failed,timeout\n",
    "id;status;error\n2;failed;timeout\n",
    "id\tstatus\terror\n2\tfailed\ttimeout\n",
    "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -m state --state INVALID -j DROP\nCOMMIT\n",
    "# this is disabled, because logins will fail otherwise\nlisten 22\n",
    "DROP TABLE IF EXISTS `errors`;\nCREATE TABLE `errors` (`id` int);\nINSERT INTO `errors` VALUES (1,'not found');\n",
    "dn: dc=example,dc=org\nobjectClass: top\ndescription: connection refused\n",
    "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$5\r\nerror\r\n$6\r\nfailed\r\n",
    "id,state\n1,paid\n2,sent\n",
    "any text",
    "server {\n    error_page 404 /not-found.html;\n}\n",
    "\0\1\2 error",
    "\n".join(["a line of a long text"] * 30 + ["error: not found"]),
]


def test_what_is_no_message_is_not_taken_for_one(check):
    for text in HONEST:
        for name in ("db.sql", "db.dump", "db.gz"):
            assert "not checked" == check(text.encode(), name).outcome, (name, text)
        assert "good" == check(gzip.compress(text.encode()), "db.sql.gz").outcome, text


def test_a_message_is_no_finding_if_the_kind_is_off(check):
    found = check(b"Killed\n", "db.sql", is_on=lambda kind: kind != "sql")

    assert "not checked" == found.outcome
