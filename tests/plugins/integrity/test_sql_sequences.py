"""What is in front of dumps in SQL, between two and behind them, and which line is the last one."""

import gzip

import pytest

from frepo_integrity.outcomes import BrokenContent
from support.dumps.sql_texts import HEAD, NOTES, PG_HEAD, PG_TAIL, SQLITE, TAIL

MESSAGES = (
    b'pg_dump: error: connection to server at "db2" failed: FATAL:  database "b" does not exist\n',
    b"mysqldump: Got error: 1049: \"Unknown database 'b'\" when selecting the database\r\n",
    b"bash: line 3: mysqldump: command not found\n",
    b"ssh: connect to host db2 port 22: Connection refused\n",
    b"Error response from daemon: No such container: db2\n",
)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_behind_the_dump_is_that_of_another_dump_that_failed(check, check_quickly, message):
    """A loop over databases, with `2>&1`: the first one is whole, of the second one there is the error only."""
    for function in (check, check_quickly):
        broken = function(HEAD + TAIL + message, "a.sql")

        assert isinstance(broken, BrokenContent), function
        assert "suspicious" == broken.verdict
        assert f"Behind the dump is a message: {' '.join(message.decode().split())}" == broken.message
    assert isinstance(check(gzip.compress(HEAD + TAIL + message), "a.sql.gz"), BrokenContent)


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("dump", [HEAD + TAIL, PG_HEAD + PG_TAIL, HEAD + NOTES % b"" + TAIL])
def test_a_message_between_two_dumps_is_that_of_another_dump_that_failed(check, dump, message):
    broken = check(dump + message + dump, "all.sql")

    assert isinstance(broken, BrokenContent)
    assert "suspicious" == broken.verdict
    assert f"Between two dumps is a message: {' '.join(message.decode().split())}" == broken.message
    row = b"INSERT INTO a VALUES ('\n" + message + b"');\n"
    harmless = b"mesg: ttyname failed: Inappropriate ioctl for device\n-- the next one\n"
    for first, between in ((dump + dump, b""), (HEAD + row + TAIL, b""), (dump, harmless)):
        assert "good" == check(first + between + dump, "all.sql").outcome


SKIPPED = (
    b"mariadb-dump: Couldn't execute 'SHOW FIELDS FROM `v`': View 'shop.v' references invalid table(s) (1356)\n",
    b"mysqldump: Error 2013: Lost connection to MySQL server during query when dumping table `a` at row: 5\r\n",
    b"mysqldump: Error: 2013: Lost connection to MySQL server when dumping table `a` at row: 5\n",
    b"mysqldump.exe: Got error: 1356: \"View 'shop.v' references invalid table(s)\" when using LOCK TABLES\n",
)


@pytest.mark.parametrize("message", SKIPPED)
def test_a_message_within_a_dump_of_mysqldump_says_that_something_is_missing(check, message):
    """`mysqldump --force 2>&1`: it goes on after an error, and ends its dump as if there was none."""
    half = HEAD + b"INSERT INTO `a` VALUES (1);\n"
    for before in (half, half + b"/*!40101 SET @saved_cs_client = @@character_set_client ", half + b"-- \n" * 40_000):
        broken = check(before + message + TAIL, "a.sql")

        assert isinstance(broken, BrokenContent), before[-20:]
        assert "suspicious" == broken.verdict
        assert f"Within the dump is a message: {' '.join(message.decode().split())}" == broken.message
    row = message.strip().replace(b"'", b"\\'")
    for whole in (
        message + half + TAIL,
        half + b"INSERT INTO `log` VALUES (1,'%s'),\n(2,'%s\\n');\n" % (row, row) + TAIL,
        half + b"-- " + message[:11] + b"[Warning] Using a password can be insecure.\n" + TAIL,
    ):
        assert "good" == check(whole, "a.sql").outcome, whole


def test_the_last_comment_of_mysqldump_may_be_filtered(check, check_quickly):
    """`mysqldump shop | grep -v 'Dump completed'`: without its time, an unchanged dump is the same each night."""
    dump = HEAD + NOTES % b"INSERT INTO `a` VALUES (1);\n"

    assert ("good", "content") == (check(dump).outcome, check(dump).covers)
    assert "pending" == check_quickly(dump).outcome
    without = NOTES % b""
    for cut in (
        dump[:-5],
        dump + dump[:-5] + dump,
        dump + TAIL + HEAD + NOTES[:120] + dump + TAIL,
        dump[:-5] + without,
        without[:-9] + dump,
    ):
        assert isinstance(check(cut), BrokenContent), cut


MORE = b"\n--\n-- Data for Name: a; Type: TABLE DATA; Schema: public; Owner: b\n--\n\nCOPY public.a (b) FROM stdin;\n"


@pytest.mark.parametrize("text", ["COMMENT ON TABLE a IS '\n%s';\n", "INSERT INTO a VALUES ('\n%s');\n"])
def test_the_last_line_of_pg_dump_in_a_text_does_not_end_its_dump(check, text):
    start = PG_HEAD + text.encode() % PG_TAIL + MORE + b"1\n" * 3000
    end = b"\\.\n\n" + PG_TAIL

    assert "good" == check(start + end).outcome
    assert "good" == check(PG_HEAD + PG_TAIL + start + end).outcome
    for cut in (start, PG_HEAD + PG_TAIL + start):
        broken = check(cut)
        assert isinstance(broken, BrokenContent)
        assert "ends too early: the line `-- PostgreSQL database dump complete`" in broken.message


def test_a_dump_of_sqlite3_with_errors_says_so(check):
    broken = check(
        SQLITE.replace(b"COMMIT;", b"/**** ERROR: (5) database is locked *****/\nROLLBACK; -- due to errors")
    )

    assert isinstance(broken, BrokenContent)
    assert "sqlite3 has met errors, so its dump ends with `ROLLBACK`" in broken.message


@pytest.mark.parametrize("message", MESSAGES[:2])
def test_a_message_in_front_of_the_dump_is_that_of_another_dump_that_failed(check, check_quickly, message):
    """The first database of a loop. `mysqldump` goes on after its other errors, such as the one about tablespaces."""
    goes_on = b"mysqldump: Error: 'Access denied; you need the PROCESS privilege' when trying to dump tablespaces\n"
    for function in (check, check_quickly):
        broken = function(message + HEAD + TAIL, "a.sql")

        assert isinstance(broken, BrokenContent), function
        assert "suspicious" == broken.verdict
        assert f"In front of the dump is a message: {' '.join(message.decode().split())}" == broken.message
    assert isinstance(check(b"Welcome to db7!\n" + message + HEAD + TAIL, "a.sql"), BrokenContent)
    assert isinstance(check(gzip.compress(message + HEAD + TAIL), "a.sql.gz"), BrokenContent)
    assert "good" == check(goes_on + HEAD + TAIL, "a.sql").outcome
    assert "good" == check(HEAD + b"INSERT INTO `a` VALUES ('\n" + message + b"');\n" + TAIL, "a.sql").outcome
