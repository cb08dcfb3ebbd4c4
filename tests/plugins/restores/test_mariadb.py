"""Restore tests with real servers of MariaDB: in a box, from dumps of another server."""

import gzip
import io
import os
import re
import shutil
import socket
import tempfile
from pathlib import Path

import pytest
from sqlalchemy import make_url

from frepo_core.features.restore_tests.assertions import Assertion
from frepo_core.features.restore_tests.choices import Choice
from frepo_core.features.restore_tests.feature import RestoreTestServices
from frepo_core.plugins import NotDecided, NotRestored, RestoreSource
from frepo_core.testing import RestoreEngineContract
from frepo_restore_mariadb import frepo_restore_engines
from support.dumps.programs import run

NAME = "restore_source"
FILL = f"""
CREATE OR REPLACE DATABASE {NAME};
USE {NAME};
CREATE TABLE orders (id integer AUTO_INCREMENT PRIMARY KEY, total decimal(10, 2), created_at timestamp);
INSERT INTO orders (total, created_at) SELECT seq, '2026-11-01' + INTERVAL seq MINUTE FROM seq_1_to_1000;
CREATE TABLE `odd`` table` (n integer, bytes blob);
INSERT INTO `odd`` table` VALUES (1, X'000A5C21');
CREATE TABLE never (n integer);
CREATE VIEW large AS SELECT * FROM orders WHERE total > 100;
CREATE FUNCTION twice(n integer) RETURNS integer DETERMINISTIC RETURN n * 2;
CREATE TRIGGER counted BEFORE INSERT ON never FOR EACH ROW SET NEW.n = NEW.n + 1;
CREATE EVENT nightly ON SCHEDULE EVERY 1 SECOND DO DELETE FROM orders;
"""
TABLES = {"odd` table": True, "never": False, "orders": True}
BEFORE = b"DROP TABLE IF EXISTS `never`;"
LAST = b"\n/*!40103 SET TIME_ZONE=@OLD"

ATTACKS = (
    r"\! touch {mark}",
    "system touch {mark}",
    r"SELECT 1; \! touch {mark}",
    "tee {mark}",
    r"\T {mark}",
    r"SELECT 1 \P touch {mark}",
    "source {script}",
    r"\. {script}",
    "DELIMITER ;;\nsystem touch {mark};;\n\\! touch {mark}\nDELIMITER ;",
    "SELECT 'owned' INTO OUTFILE '{mark}';",
    "SELECT 'owned' INTO DUMPFILE '{mark}';",
    "LOAD DATA LOCAL INFILE '{script}' INTO TABLE orders;",
    "LOAD DATA INFILE '{script}' INTO TABLE orders;",
    "INSERT INTO orders (total) SELECT length(load_file('{script}'));",
    "INSTALL SONAME 'server_audit';",
)


@pytest.fixture(scope="module")
def dump(mariadb_server):
    """Dump a database that is filled, with options of mariadb-dump."""
    url = make_url(mariadb_server.emptied())
    where = ["--no-defaults", "--protocol=tcp", "-h", str(url.host), "-P", str(url.port), "-u", str(url.username)]
    where += [f"--password={url.password}", "--skip-ssl"]
    run("mariadb", *where, data=FILL.encode())
    yield lambda *options: run("mariadb-dump", *where, *(options or [NAME]))
    run("mariadb", *where, "-e", f"DROP DATABASE {NAME}")


@pytest.fixture
def ini(ini, open_directory):
    engines = {"restore_tests.engines": "mariadb:10.11, mariadb:99.1"}
    return ini | engines | {"temp_directory": open_directory}


@pytest.fixture
def test(services, collection, push, restore_chosen):
    """Push a content, and restore it with MariaDB 10.11."""

    def test(content, version="10.11", seconds=300.0, **assertions):
        record = services.collections.get(collection)
        own = services.feature(RestoreTestServices).choices
        chosen = Choice(engine=f"mariadb:{version}", assertions=assertions)
        if own.of(collection).engine != chosen.engine or assertions:
            own.set(record, chosen, by=None)
        push(collection, content)
        return restore_chosen(seconds)

    return test


def edited(dump, before, after):
    """Edit a dump, as somebody does who wants the client to obey its commands: it obeys none in its sandbox."""
    content = re.sub(rb"^/\*M!999999.*\n", b"", dump())
    assert before in content
    return content.replace(before, after, 1)


def test_a_dump_is_restored_and_asked(test, dump):
    newest = Assertion(question="SELECT max(created_at) FROM orders", min=1793500000, max=1793600000)

    result = test(dump(), rows=Assertion(question="SELECT count(*) FROM orders", min=1000, max=1000), newest=newest)

    assert ("good", TABLES) == (result.outcome, result.tables), result.message
    assert result.message.endswith("2 assertions hold")


@pytest.mark.costly
@pytest.mark.parametrize(
    "options",
    [
        ["--single-transaction", "--routines", "--events", "--triggers", NAME],
        ["--skip-comments", "--routines", NAME],
        ["--skip-extended-insert", "--hex-blob", "--skip-dump-date", NAME],
        ["--databases", NAME],
    ],
)
def test_each_form_of_mariadb_dump_is_restored(test, dump, options):
    rows = Assertion(question="SELECT count(*) FROM orders", min=1000, max=1000)

    result = test(dump(*options), rows=rows)

    assert "good" == result.outcome, result.message
    assert TABLES == {name.removeprefix(f"{NAME}."): value for name, value in result.tables.items()}


@pytest.mark.costly
@pytest.mark.parametrize("pack", [gzip.compress, lambda content: run("zstd", "-q", "-c", data=content)])
def test_a_packed_dump_is_restored(test, dump, pack):
    result = test(pack(dump()))

    assert ("good", TABLES) == (result.outcome, result.tables), result.message


@pytest.mark.costly
def test_a_dump_that_is_whole_but_does_not_load_is_broken(test, dump):
    result = test(edited(dump, b"(500,500.00,", b"(500,"))

    assert "broken" == result.outcome
    assert "Column count doesn't match value count at row 500" in result.message


@pytest.mark.costly
@pytest.mark.parametrize("options", [[NAME], ["--skip-comments", NAME]])
@pytest.mark.parametrize("left", [30, 2000])
def test_a_dump_that_ends_early_is_broken(test, dump, options, left):
    assert "broken" == test(dump(*options)[:-left]).outcome


@pytest.mark.costly
def test_a_packed_dump_that_ends_early_is_broken(test, dump):
    assert "broken" == test(gzip.compress(dump())[:-300]).outcome


@pytest.mark.costly
@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (b"CREATE TABLE a (n text COLLATE utf8mb4_0900_ai_ci);", "Unknown collation: 'utf8mb4_0900_ai_ci'"),
        (b"CREATE USER somebody;", "Access denied"),
        (b"GRANT ALL ON *.* TO restored@localhost;", "Access denied"),
        (b"SET GLOBAL event_scheduler = ON;", "Access denied"),
        (b"SELECT * FROM mysql.global_priv;", "SELECT command denied"),
    ],
)
def test_what_is_missing_here_or_not_allowed_is_not_broken(test, dump, statement, text):
    result = test(edited(dump, BEFORE, statement + b"\n" + BEFORE))

    assert "not checked" == result.outcome
    assert text in result.message


@pytest.mark.costly
def test_a_dump_of_the_databases_of_the_server_is_not_checked(test, dump):
    result = test(dump("--all-databases"))

    assert ("not checked", True) == (result.outcome, "make it with --databases" in result.message)


@pytest.mark.costly
def test_statements_about_replication_are_left_out(test, dump):
    result = test(edited(dump, BEFORE, b"CHANGE MASTER TO MASTER_LOG_FILE='a', MASTER_LOG_POS=1;\n" + BEFORE))

    assert ("good", TABLES) == (result.outcome, result.tables)
    assert result.message.endswith("(1 statements about replication were left out)")


@pytest.mark.costly
def test_a_version_that_is_missing_here_says_what_to_install(test, dump):
    result = test(dump(), version="99.1")

    assert "not checked" == result.outcome
    assert result.message.startswith("MariaDB 99.1 is not installed here, only ")
    assert result.message.endswith(": apt-get install mariadb-server")


@pytest.mark.costly
def test_a_table_that_became_empty_is_named(test, dump):
    assert "good" == test(dump()).outcome
    result = test(edited(dump, LAST, b"\nDELETE FROM `odd`` table`;" + LAST))

    assert "suspicious" == result.outcome
    assert "in the last good restore, and are now: odd` table" in result.message


def test_a_command_of_the_client_runs_nothing(dump):
    _attack(dump, ATTACKS[0])


@pytest.mark.costly
@pytest.mark.parametrize("attack", ATTACKS[1:])
def test_another_command_or_a_file_reaches_nothing(dump, attack):
    _attack(dump, attack)


def _attack(dump, attack):
    """Without the box, which would hide what the engine itself lets through."""
    with tempfile.TemporaryDirectory(prefix="frepo-test-") as folder:
        script, mark = Path(folder) / "script.sql", Path(folder) / "mark"
        script.write_text(f"INSERT INTO orders (total) VALUES (1);\n\\! touch {mark}\nsystem touch {mark}\n")
        statement = attack.format(mark=mark, script=script).encode()
        count = _restored(edited(dump, LAST, b"\n" + statement + LAST))

        assert not mark.exists()
        assert count in {None, 1000, 1001 if "load_file" in attack else 1000}


@pytest.mark.costly
def test_what_the_dump_defines_has_no_rights_of_others(test, dump):
    attacks = [
        b"CREATE DEFINER=`%s`@`localhost` PROCEDURE %s() SELECT * FROM mysql.global_priv;\nCALL %s();"
        % (name, b"p%d" % at, b"p%d" % at)
        for at, name in enumerate((b"root", b"mariadb.sys"))
    ]
    result = test(edited(dump, BEFORE, b"\n".join(attacks) + b"\n" + BEFORE))

    assert "broken" == result.outcome
    assert "The user specified as a definer ('root'@'localhost') does not exist, and 1 more errors" in result.message


@pytest.mark.costly
def test_a_hostile_dump_touches_nothing_of_the_service_or_the_host(test, dump, tmp_path):
    secret, mark = tmp_path / "secret", Path(f"/tmp/frepo-owned-{os.getpid()}")
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        attacks = [
            rf"\! touch {mark} /usr/owned /etc/owned",
            f"system cat {secret} /etc/shadow >&2",
            f"LOAD DATA LOCAL INFILE '{secret}' INTO TABLE orders;",
            f"CREATE TABLE far (n integer) ENGINE=FEDERATED CONNECTION='mysql://a@127.0.0.1:{port}/a/a';",
            f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}; START SLAVE;",
        ]
        result = test(edited(dump, BEFORE, ("\n".join(attacks) + "\n").encode() + BEFORE))
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()

    assert result.outcome in {"not checked", "broken"}
    assert "secret\n" not in result.output
    assert [] == [one for one in (mark, Path("/usr/owned"), Path("/etc/owned")) if one.exists()]


@pytest.mark.costly
@pytest.mark.parametrize("attack", [b"SELECT SLEEP(300);", b"DO BENCHMARK(1000000000000, MD5(1));"])
def test_a_restore_that_hangs_is_ended_and_leaves_nothing(test, dump, attack):
    result = test(edited(dump, BEFORE, attack + b"\n" + BEFORE), seconds=20.0)

    assert "not checked" == result.outcome
    assert "it did not end within 20s" in result.message


@pytest.mark.costly
class TestContract(RestoreEngineContract):
    @pytest.fixture(autouse=True)
    def installed(self):
        if not shutil.which("mariadbd"):
            pytest.skip("mariadbd is not installed: make services")

    @pytest.fixture
    def engine(self):
        return frepo_restore_engines()[0]

    @pytest.fixture
    def version(self):
        return "10.11"

    @pytest.fixture
    def content(self, dump):
        return dump()

    @pytest.fixture
    def damaged(self, content):
        return content[:-40]

    @pytest.fixture
    def question(self):
        return "SELECT count(*) FROM orders", "1000"


def _restored(content):
    """Return how many orders there are after a restore without the box; None if it was refused."""
    with tempfile.TemporaryDirectory(prefix="frepo-test-") as folder:
        file = io.BytesIO(content)
        source = RestoreSource(content=file, packed=file, name="dump", version="10.11", folder=Path(folder))
        try:
            with frepo_restore_engines()[0].restore(source) as copy:
                return int(copy.ask("SELECT count(*) FROM orders"))
        except (NotDecided, NotRestored):
            return None
