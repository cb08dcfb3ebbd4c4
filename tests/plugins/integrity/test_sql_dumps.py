"""Dumps in SQL, made by the real programs from real databases: the last lines say whether they are whole."""

import os
import shutil
import sqlite3
import subprocess

import pytest
from sqlalchemy import make_url, text

from frepo_integrity.formats.sql_programs import PROGRAMS
from frepo_integrity.formats.sql_sequence import LITERALS
from frepo_integrity.outcomes import BrokenContent
from support.compressors import COMPRESSORS
from support.dumps.programs import run
from support.dumps.sql_texts import HEAD, NOTES, SQLITE, TAIL
from support.scale import IS_BIG

# pg_dump of Debian starts the program of the server's version.
WITHOUT_COMMENTS_END = b"/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;"
FOOTERS = {
    "mysqldump": b"-- Dump completed",
    "mariadb-dump": b"-- Dump completed",
    "mysqldump --skip-comments": WITHOUT_COMMENTS_END,
    "pg_dump": b"-- PostgreSQL database dump complete",
    "pg_dumpall": b"-- PostgreSQL database cluster dump complete",
}
TABLE = "CREATE TABLE integrity_rows (id INTEGER, words TEXT)"
# Text in a row that looks like the end of a dump. Programs write its line ends as `\\n`, except pg_dump --inserts.
TRAP = "\n-- Dump completed\n--\n-- PostgreSQL database dump complete\n--\n"


def _fill(engine, words):
    """Make a table of some 60 KB, or of these texts."""
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE IF EXISTS integrity_rows"))
        if not isinstance(words, str):
            connection.execute(text("CREATE TABLE integrity_rows (words TEXT)"))
            connection.execute(text("INSERT INTO integrity_rows VALUES (:words)"), [{"words": one} for one in words])
            return
        connection.execute(text(TABLE))
        rows = [{"id": number, "words": f"{words} row {number} " * 3} for number in range(200)]
        connection.execute(text("INSERT INTO integrity_rows VALUES (:id, :words)"), rows)


def _dump(engine, url, *command, words=TRAP):
    program = shutil.which(command[0])
    if program is None:
        pytest.skip(f"{command[0]} is not installed")
    _fill(engine, words)
    secrets = {"PGPASSWORD": url.password, "MYSQL_PWD": url.password}
    try:
        return subprocess.run(command, env=os.environ | secrets, stdout=subprocess.PIPE, check=True).stdout
    finally:
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE integrity_rows"))


@pytest.fixture(scope="module")
def mysql_dump(mariadb_server):
    url = make_url(mariadb_server.emptied())

    def mysql_dump(program, *options, words=TRAP):
        where = ["--no-defaults", "-h", url.host, "-P", str(url.port), "-u", url.username, "--skip-ssl"]
        return _dump(mariadb_server.engine, url, program, *where, *options, url.database, words=words)

    return mysql_dump


@pytest.fixture(scope="module")
def pg_dump(postgresql_server):
    url = make_url(postgresql_server.emptied())

    def pg_dump(program, *options, words=None):
        where = ["-h", url.host, "-p", str(url.port), "-U", url.username]
        words = words or ("plain text" * 8 if "--inserts" in options else TRAP)
        return _dump(postgresql_server.engine, url, program, *where, *options, words=words)

    return pg_dump


MYSQL = {
    "mysqldump": [],
    "mariadb-dump": [],
    "mysqldump --single-transaction --routines": ["--single-transaction", "--routines"],
    "mariadb-dump --databases": ["--skip-extended-insert", "--databases"],
    "mysqldump --skip-dump-date": ["--skip-dump-date"],
    "mariadb-dump --compatible=ansi": ["--compatible=ansi"],
}
# All of them end with the same statement.
WITHOUT_COMMENTS = {
    "--skip-comments": [],
    "--skip-comments --databases": ["--skip-extended-insert", "--databases"],
    "--skip-comments --skip-opt": ["--skip-opt"],
    "--skip-comments --skip-set-charset --skip-tz-utc": ["--skip-set-charset", "--skip-tz-utc"],
    "--skip-comments --no-data --routines --events": ["--no-data", "--routines", "--events"],
    "--skip-comments --no-create-info": ["--no-create-info", "--skip-triggers", "--hex-blob"],
}
POSTGRESQL = {
    "pg_dump": [],
    "pg_dump --inserts": ["--inserts"],
    "pg_dump --schema-only": ["--schema-only"],
    "pg_dump --clean --create": ["--clean", "--create"],
    "pg_dumpall": [],
    "pg_dumpall --globals-only": ["--globals-only"],
}


def assert_cuts_are_found(check, check_quickly, program, content):
    """Assert that the dump is whole, and broken if it is cut before its program's last line."""
    report = check(content)
    assert ("good", ("sql",), f"The dump of {program} is whole") == (report.outcome, report.kinds, report.message)
    assert "pending" == check_quickly(content).outcome
    end = content.rindex(FOOTERS[program]) + len(FOOTERS[program])
    # A dump with comments has all its statements before its last comment.
    last = content.rindex(WITHOUT_COMMENTS_END) + 39 if FOOTERS[program] == b"-- Dump completed" else end
    for cut in [len(content) * tenth // 10 for tenth in range(1, 10)] + [last - 1, last - 20]:
        # The dump of a cluster contains dumps of databases, of which one may end there.
        # Without its last comments, a dump ends as one without comments, of which several may follow each other.
        has_end = program == "pg_dumpall" or content.find(WITHOUT_COMMENTS_END, 0, cut) >= 0
        for function in (check,) if has_end else (check, check_quickly):
            broken = function(content[:cut])
            assert isinstance(broken, BrokenContent), cut
            assert f"`{FOOTERS[program].decode()}`, which {program} writes last, is missing" in broken.message
    assert "good" == check(content[:end]).outcome


@pytest.mark.parametrize("options", MYSQL)
def test_a_dump_of_mariadb(check, check_quickly, mysql_dump, options):
    program = options.split()[0]
    content = mysql_dump(program, *MYSQL[options])

    # MariaDB's mysqldump is a link to mariadb-dump.
    assert_cuts_are_found(check, check_quickly, "mariadb-dump", content)


@pytest.mark.parametrize("options", WITHOUT_COMMENTS)
def test_a_dump_of_mariadb_without_comments(check, check_quickly, mysql_dump, options):
    content = mysql_dump("mariadb-dump", "--skip-comments", *WITHOUT_COMMENTS[options])

    assert_cuts_are_found(check, check_quickly, "mysqldump --skip-comments", content)


def test_a_compact_dump_has_no_end(check, mysql_dump):
    for options in ([], ["--comments"], ["--set-charset", "--add-drop-table"], ["--databases"]):
        content = mysql_dump("mariadb-dump", "--compact", *options)

        assert ["not checked"] * 2 == [check(content).outcome, check(content[: len(content) // 2]).outcome]


def test_the_middle_of_a_line_is_not_the_last_line(check, check_quickly):
    # The last 256 KiB begin within a row, with what looks like the last line.
    content = b"-- MariaDB dump 10.19\nINSERT INTO words VALUES ('" + b"-- Dump completed".ljust(256 << 10, b"x")

    for function in (check, check_quickly):
        assert isinstance(function(content), BrokenContent)


@pytest.mark.parametrize("options", POSTGRESQL)
def test_a_dump_of_postgresql(check, check_quickly, pg_dump, options):
    program = options.split()[0]

    assert_cuts_are_found(check, check_quickly, program, pg_dump(program, *POSTGRESQL[options]))


def test_a_dump_of_a_cluster_cut_after_the_dump_of_a_database_is_broken(check, pg_dump):
    content = pg_dump("pg_dumpall")
    place = content.rindex(b"-- PostgreSQL database dump complete\n") + 50

    assert isinstance(check(content[:place]), BrokenContent)


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_dump_in_a_compression_is_checked(check, mysql_dump, kind):
    content = mysql_dump("mariadb-dump")
    pack = next(iter(COMPRESSORS[kind].values()))

    assert ("good", (kind, "sql")) == (check(pack(content)).outcome, check(pack(content)).kinds)
    broken = check(pack(content[:-500]))
    assert ("sql", (kind, "sql")) == (broken.kind, broken.kinds)


WHOLE = {
    "of MySQL 8": HEAD + NOTES % (b"INSERT INTO `a` VALUES (1);\n" * 20) + TAIL,
    "with a warning first": b"mysqldump: [Warning] Using a password can be insecure.\n" + HEAD + TAIL,
    "with a sandbox line": b"/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19  Distrib\n" + TAIL,
    "with statements around it": b"SET foreign_key_checks = 0;\n" + HEAD + TAIL + b"SET foreign_key_checks = 1;\n",
    "of a newer MariaDB without comments": b"/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_ZERO' */;\n"
    b"/*M!100616 SET @OLD_NOTE_VERBOSITY=@@NOTE_VERBOSITY, NOTE_VERBOSITY=0 */;\n"
    b"/*M!100616 SET NOTE_VERBOSITY=@OLD_NOTE_VERBOSITY */;\n",
    "of HeidiSQL": b"-- Host: 127.0.0.1\n-- HeidiSQL Version: 12.5.0.6677\n\n"
    b"/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;\n"
    b"/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;\nINSERT INTO `a` VALUES (1);\n"
    b"/*!40101 SET SQL_MODE=IFNULL(@OLD_SQL_MODE, '') */;\n/*!40111 SET SQL_NOTES=IFNULL(@OLD_SQL_NOTES, 1) */;\n",
    "with a warning of ssh first": b"Warning: Permanently added 'db7' (ED25519) to the list of known hosts.\r\n"
    + HEAD
    + TAIL,
    "with a line of kubectl first": b'Defaulted container "db" out of: db, exporter\n' + HEAD + TAIL,
    "with a warning of docker compose first": b'time="2026-11-29T02:00:00Z" level=warning a="The \\"X\\" is not set."\n'
    + HEAD
    + TAIL,
    "with a line of podman first": b"Emulate Docker CLI using podman. Create /etc/containers/nodocker\n" + HEAD + TAIL,
    "with lines of a shell without a terminal first": b"mesg: ttyname failed: Inappropriate ioctl for device\n"
    b"bash: cannot set terminal process group (-1): Inappropriate ioctl for device\n"
    b"bash: no job control in this shell\nUnable to use a TTY - input is not a terminal\n" + HEAD + TAIL,
    "with a greeting first": b"Welcome to db7!\nLast login: Sat Nov 28\n\n" + HEAD + TAIL,
    "with a greeting, of sqlite3": b"Welcome to db7!\n" + SQLITE,
    "with a verbose program": HEAD + TAIL + b"mysqldump: [Warning] Using a password can be insecure.\n-- errors: 0\n",
    "with line ends of Windows": (HEAD + TAIL).replace(b"\n", b"\r\n"),
    "of sqlite3 with a comment behind it": SQLITE + b"-- the end\n",
    "of sqlite3, then of MySQL": SQLITE + HEAD + TAIL,
    "with a token of restricted mode": b"--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n--\n"
    b"-- PostgreSQL database dump complete\n--\n\n\\unrestrict abc\n\n",
}


def test_a_whole_dump_is_good(check):
    assert dict.fromkeys(WHOLE, "good") == {name: check(content).outcome for name, content in WHOLE.items()}


def test_a_database_that_sqlite3_has_made_itself_is_no_backup(check, tmp_path):
    """`sqlite3 /srv/wrong.db .dump` makes the file that is missing, and ends well."""
    dump = run("sqlite3", str(tmp_path / "wrong.db"), ".dump")
    run("sqlite3", str(tmp_path / "wrong.db"), "VACUUM")
    run("sqlite3", str(tmp_path / "wrong.db"), f".backup {tmp_path}/copy.db")

    for content, kind in ((dump, "sql"), ((tmp_path / "copy.db").read_bytes(), "sqlite")):
        found = check(content, "copy.db")
        assert isinstance(found, BrokenContent), kind
        assert ("suspicious", kind) == (found.verdict, found.kind)
        assert "no tables" in found.message
    run("sqlite3", str(tmp_path / "wrong.db"), "CREATE TABLE a (b)")
    assert "good" == check((tmp_path / "wrong.db").read_bytes()).outcome
    assert "good" == check(run("sqlite3", str(tmp_path / "wrong.db"), ".dump")).outcome


def test_lines_of_other_programs_in_front_of_a_dump_are_named(check):
    report = check(WHOLE["with a greeting first"])

    assert "The dump of mysqldump is whole. In front of it is other text, which a restore may refuse" in report.message
    assert report.covers == "content"


def test_a_cut_dump_behind_other_text_is_no_whole_one(check, check_quickly):
    """It may be a text about dumps, so it is not condemned. The guards compare it with the nights before."""
    report = check(b"Welcome to db7!\n" + HEAD + b"INSERT INTO `a` VALUES (1);\n", "a.sql")

    assert ("not checked", ()) == (report.outcome, report.kinds)
    assert "the line `-- Dump completed`, which mysqldump writes last, is missing" in report.message
    assert "pending" == check_quickly(b"Welcome to db7!\n" + HEAD + TAIL, "a.sql").outcome


def test_a_cut_dump_behind_a_warning_is_broken(check):
    names = [name for name in WHOLE if name.endswith("first") and "greeting" not in name]
    for name in (*names, "of HeidiSQL"):
        content = WHOLE[name]

        assert isinstance(check(content[: -len(TAIL)]), BrokenContent), name


TEXTS = {
    "a manual": b"How to dump\n===========\n\nThe file begins with\n\n-- MySQL dump 10.13\n\nand so on.\n",
    "a mail": b"> -- PostgreSQL database dump\n\nis what my file begins with.\n",
    "other SQL": b"CREATE TABLE a (b int);\nINSERT INTO a VALUES (1);\n",
    "a dump without comments": b"DROP TABLE IF EXISTS `a`;\nCREATE TABLE `a` (b int);\n",
}


def test_other_texts_are_not_checked(check):
    for name, content in TEXTS.items():
        report = check(content)

        assert ("not checked", ()) == (report.outcome, report.kinds), name


def test_a_row_that_looks_like_the_end_does_not_make_a_dump_whole(check):
    """pg_dump writes rows as lines. An empty comment above the last line tells it from a row."""
    content = b"--\n-- PostgreSQL database dump\n--\nCOPY a FROM stdin;\n-- PostgreSQL database dump complete\n2\n"

    assert isinstance(check(content), BrokenContent)


@pytest.mark.costly
def test_of_several_dumps_each_has_its_own_end(check, pg_dump, mysql_dump):
    globals_only, shop, other = pg_dump("pg_dumpall", "--globals-only"), pg_dump("pg_dump"), mysql_dump("mariadb-dump")
    without_comments = mysql_dump("mariadb-dump", "--skip-comments")

    for whole in (globals_only + shop, shop + shop, other + other, other + shop, WHOLE["of MySQL 8"] * 2):
        assert "good" == check(whole).outcome
    for whole in (without_comments * 2, without_comments + other, other + without_comments):
        assert "good" == check(whole).outcome
    for first in (globals_only, shop, other, WHOLE["of MySQL 8"], without_comments):
        for second in (shop, other, WHOLE["of MySQL 8"], without_comments):
            broken = check(first[: len(first) * 6 // 10] + second)
            assert isinstance(broken, BrokenContent)
            assert "ends too early" in broken.message
            assert second is without_comments or "One of the 2 dumps in it ends too early" in broken.message
            assert isinstance(check(first + second[: len(second) * 6 // 10]), BrokenContent)


@pytest.fixture(scope="module")
def sqlite_dump(tmp_path_factory):
    def sqlite_dump(*options, words):
        path = tmp_path_factory.mktemp("sqlite") / "a.db"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE a (words TEXT)")
            connection.executemany("INSERT INTO a VALUES (?)", [(one,) for one in words])
        connection.close()
        return run("sqlite3", str(path), f".dump {' '.join(options)}")

    return sqlite_dump


@pytest.fixture(scope="module")
def makers(pg_dump, mysql_dump, sqlite_dump):
    """Dump a table of these texts in each way."""
    return {
        "pg_dump": lambda words: pg_dump("pg_dump", words=words),
        "pg_dump --inserts": lambda words: pg_dump("pg_dump", "--inserts", words=words),
        "pg_dump --column-inserts": lambda words: pg_dump("pg_dump", "--column-inserts", words=words),
        "pg_dump --rows-per-insert": lambda words: pg_dump("pg_dump", "--rows-per-insert=3", words=words),
        "pg_dumpall": lambda words: pg_dump("pg_dumpall", words=words),
        "pg_dumpall --inserts": lambda words: pg_dump("pg_dumpall", "--inserts", words=words),
        "mariadb-dump": lambda words: mysql_dump("mariadb-dump", words=words),
        "mariadb-dump --xml": lambda words: mysql_dump("mariadb-dump", "--xml", words=words),
        "mariadb-dump --skip-comments": lambda words: mysql_dump("mariadb-dump", "--skip-comments", words=words),
        ".dump": lambda words: sqlite_dump(words=words),
        ".dump --newlines": lambda words: sqlite_dump("--newlines", words=words),
    }


@pytest.mark.costly
def test_a_dump_of_stored_dumps_is_whole(check, makers):
    """Applications store dumps as texts, their first lines, or each line as a row."""
    dumps = [make(["it's", "a 'text'", ", (comma)"]).decode() for make in makers.values()]
    dumps = [dump for dump in dumps if len(dump) < 1 << 16]  # a column's limit: pg_dumpall has what other tests left
    dumps += [WHOLE["of MySQL 8"].decode(), WHOLE["with a token of restricted mode"].decode()]
    starts = [dump[:size] for dump in dumps for size in (110, 250, 600, len(dump) - 90)]
    stored = [[*dumps, *starts, *(f"A question:\n{one}" for one in starts)]]
    stored += [["before", one, "after it's"] for one in starts if IS_BIG]
    for way in makers if IS_BIG else ("pg_dump", "pg_dump --inserts", "mariadb-dump", ".dump"):
        make = makers[way]
        for words in stored:
            for rows in (words, [line for one in words for line in one.splitlines()]):
                report = check(make(rows))
                assert not isinstance(report, BrokenContent), (way, rows, report.message)
                assert ("good", "content") == (report.outcome, report.covers)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_each_first_and_last_line_has_one_of_the_literals_that_are_searched_first(program):
    written = [literal.replace(b"\n", rb"\n") for literal in LITERALS]

    assert any(literal in program.start.pattern for literal in written)
    assert any(literal in program.last_line.pattern for literal in written)
