"""The readers against their contract, and tables with commands of psql; real dumps are in the other modules."""

import io
import tarfile
import zipfile

import pytest

from frepo_core.testing import PartReaderContract
from frepo_parts.formats.readers import READERS

SQLITE = b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE a (b);\nINSERT INTO a VALUES(1);\nCOMMIT;\n"
MARIADB = b"""-- MariaDB dump 10.19
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='' */;
CREATE TABLE `a` (
  `b` int);
INSERT INTO `a` VALUES (1),(2);
/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
"""
POSTGRESQL = b"""--
-- PostgreSQL database dump
--

SET statement_timeout = 0;
CREATE TABLE public.a (
    b integer
);
COPY public.a (b) FROM stdin;
1
\\.
"""

BY_NAME = {reader.name: reader for reader in READERS}


class TestSqlite(PartReaderContract):
    @pytest.fixture
    def reader(self):
        return BY_NAME["sqlite_dump"]

    @pytest.fixture
    def content(self):
        return SQLITE

    @pytest.fixture
    def damaged(self):
        return SQLITE[:-8]


class TestMariadb(PartReaderContract):
    @pytest.fixture
    def reader(self):
        return BY_NAME["mariadb_dump"]

    @pytest.fixture
    def content(self):
        return MARIADB

    @pytest.fixture
    def damaged(self):
        return MARIADB[: MARIADB.rindex(b"/*!")]


class TestPostgresql(PartReaderContract):
    @pytest.fixture
    def reader(self):
        return BY_NAME["pg_dump"]

    @pytest.fixture
    def content(self):
        return POSTGRESQL

    @pytest.fixture
    def damaged(self):
        return POSTGRESQL[:-3]

    @pytest.mark.parametrize(
        "hostile",
        [
            (b"1\n\\.", b"1\\! touch /tmp/x\n\\."),  # a row that is a command, if COPY failed
            (b"    b integer\n", b"    b integer \\! touch /tmp/x\n"),
            (b"FROM stdin;\n", b"FROM stdin; \\! touch /tmp/x\n"),
        ],
    )
    def test_a_table_with_commands_of_psql_is_refused(self, reader, content, hostile):
        (part,) = reader.list(io.BytesIO(content.replace(*hostile)))

        assert "commands of psql" in part.refusal

    def test_commands_between_statements_are_left_out(self, reader, content):
        hostile = content.replace(b"COPY public", b"\\! touch /tmp/x\n\\copy a from b\nCOPY public")
        (part,) = reader.list(io.BytesIO(hostile))
        given = b"".join(reader.extract(io.BytesIO(hostile), part))

        assert "" == part.refusal
        assert b"\\!" not in given
        assert b"\\copy" not in given
        assert b"COPY public.a (b) FROM stdin;\n1\n\\.\n" in given


class TestTar(PartReaderContract):
    @pytest.fixture
    def reader(self):
        return BY_NAME["tar"]

    @pytest.fixture
    def content(self):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for name, size in (("a", 700), ("b", 0), ("c", 5)):
                member = tarfile.TarInfo(name)
                member.size = size
                archive.addfile(member, io.BytesIO(bytes(size)))
        return buffer.getvalue()

    @pytest.fixture
    def damaged(self, content):
        return content[:1536]


class TestZip(PartReaderContract):
    @pytest.fixture
    def reader(self):
        return BY_NAME["zip"]

    @pytest.fixture
    def content(self):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a", b"a" * 300_000)
            archive.writestr("b", b"")
        return buffer.getvalue()

    @pytest.fixture
    def damaged(self, content):
        return content[:-30]
