"""Restore tests with real servers of PostgreSQL 15: in a box, from dumps of another server."""

import os
import re
import socket
from pathlib import Path

import pytest
from sqlalchemy import make_url

from frepo_core.features.restore_tests.assertions import Assertion
from frepo_core.features.restore_tests.choices import Choice
from frepo_core.features.restore_tests.feature import RestoreTestServices
from support.dumps.programs import run

FILL = """
CREATE ROLE restore_owner;
CREATE TABLE orders (id serial PRIMARY KEY, total numeric, created_at timestamptz);
INSERT INTO orders (total, created_at) SELECT n, timestamptz '2026-11-01' + n * interval '1 minute'
    FROM generate_series(1, 1000) n;
CREATE TABLE "Odd "" table" (n integer);
INSERT INTO "Odd "" table" VALUES (1);
CREATE TABLE never (n integer);
CREATE VIEW large AS SELECT * FROM orders WHERE total > 100;
CREATE FUNCTION twice(n integer) RETURNS integer LANGUAGE sql AS 'SELECT n * 2';
ALTER TABLE orders OWNER TO restore_owner;
GRANT SELECT ON never TO restore_owner;
"""
TABLES = {'public."Odd "" table"': True, "public.never": False, "public.orders": True}


@pytest.fixture(scope="module")
def dump(postgresql_server):
    """Dump a database that is filled, with options of pg_dump."""
    url = make_url(postgresql_server.emptied())
    where = ["-h", str(url.host), "-p", str(url.port), "-U", str(url.username)]

    def call(program, *words, data=None):
        return run(program, *where, *words, data=data, PGPASSWORD=str(url.password))

    def drop():
        call("psql", "-qc", "DROP DATABASE IF EXISTS restore_source", "postgres")
        call("psql", "-qc", "DROP ROLE IF EXISTS restore_owner", "postgres")

    drop()
    call("psql", "-qc", "CREATE DATABASE restore_source", "postgres")
    call("psql", "-qX", "-v", "ON_ERROR_STOP=1", "restore_source", data=FILL.encode())
    yield lambda *options: call("pg_dump", *options, "restore_source")
    drop()


@pytest.fixture
def ini(ini, open_directory):
    engines = {"restore_tests.engines": "postgresql:15, postgresql:99"}
    return ini | engines | {"temp_directory": open_directory}


@pytest.fixture
def test(services, collection, push, restore_chosen):
    """Push a content, and restore it with PostgreSQL 15."""

    def test(content, version="15", seconds=300.0, **assertions):
        record = services.collections.get(collection)
        own = services.feature(RestoreTestServices).choices
        chosen = Choice(engine=f"postgresql:{version}", assertions=assertions)
        if own.of(collection).engine != chosen.engine or assertions:
            own.set(record, chosen, by=None)
        push(collection, content)
        return restore_chosen(seconds)

    return test


def edited(dump, before, after):
    """Edit a dump, as somebody does who wants psql to obey its commands: it obeys none behind `\\restrict`."""
    content = re.sub(rb"\\(un)?restrict .*\n", b"", dump())
    assert before in content
    return content.replace(before, after, 1)


def test_a_dump_is_restored_and_asked(test, dump):
    newest = Assertion(question="SELECT max(created_at) FROM orders", min=1793500000, max=1793600000)

    result = test(dump(), rows=Assertion(question="SELECT count(*) FROM orders", min=1000, max=1000), newest=newest)

    assert ("good", TABLES) == (result.outcome, result.tables)
    assert "2 assertions hold (" in result.message
    assert result.message.endswith("statements about owners, rights or settings were left out)")


@pytest.mark.costly
@pytest.mark.parametrize("options", [["-Fc"], ["-Fc", "-Z0"], ["-Ft"], ["--inserts"], ["--clean", "--if-exists"]])
def test_each_format_of_pg_dump_is_restored(test, dump, options):
    result = test(dump(*options))

    assert ("good", TABLES) == (result.outcome, result.tables)


@pytest.mark.costly
def test_a_dump_that_is_whole_but_does_not_load_is_broken(test, dump):
    result = test(edited(dump, b"\n500\t500\t", b"\n500\tmany\t"))

    assert "broken" == result.outcome
    assert 'invalid input syntax for type numeric: "many"' in result.message


@pytest.mark.costly
@pytest.mark.parametrize(("options", "left"), [([], 100), (["-Fc"], 300)])
def test_a_dump_that_ends_early_is_broken(test, dump, options, left):
    assert "broken" == test(dump(*options)[:-left]).outcome


@pytest.mark.costly
@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (b"CREATE EXTENSION acme_shapes;", "install its package, such as postgresql-15-acme_shapes"),
        (b"CREATE EXTENSION pg_stat_statements WITH SCHEMA public;", "permission denied to create extension"),
        (b"CREATE SCHEMA own AUTHORIZATION restore_owner;", 'role "restore_owner" does not exist'),
        (
            b"COPY (SELECT 1) TO PROGRAM 'id';",
            "must be superuser or have privileges of the pg_execute_",
        ),
    ],
)
def test_what_is_missing_here_is_not_broken(test, dump, statement, text):
    result = test(edited(dump, b"\nCREATE TABLE", b"\n" + statement + b"\nCREATE TABLE"))

    assert "not checked" == result.outcome
    assert text in result.message


@pytest.mark.costly
def test_a_version_that_is_missing_here_says_what_to_install(test, dump):
    result = test(dump(), version="99")

    assert "not checked" == result.outcome
    assert "PostgreSQL 99 is not installed here: apt-get install postgresql-99" == result.message


@pytest.mark.costly
def test_a_table_that_became_empty_is_named(test, dump):
    empty = edited(dump, b"\n1\n\\.\n", b"\n\\.\n")

    assert "good" == test(dump()).outcome
    result = test(empty)

    assert "suspicious" == result.outcome
    assert 'in the last good restore, and are now: public."Odd "" table"' in result.message


@pytest.mark.costly
def test_commands_of_psql_run_in_the_box(test, dump):
    """Otherwise the next test would prove nothing."""
    end = b"\n--\n-- PostgreSQL database dump complete"
    commands = rb"\! echo 7 > ran" + b"\n" + rb"\copy public.never FROM 'ran'"

    result = test(edited(dump, end, b"\n" + commands + end))

    assert ("good", True) == (result.outcome, result.tables["public.never"])


@pytest.mark.costly
def test_a_hostile_dump_touches_nothing_of_the_service_or_the_host(test, dump, tmp_path, ini):
    secret, mark = tmp_path / "secret", Path(f"/tmp/frepo-owned-{os.getpid()}")
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        attacks = [
            rf"\! touch {mark} /usr/owned /etc/owned",
            rf"\! cat {secret} /etc/shadow /proc/{os.getpid()}/environ >&2",
            rf"\! python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2); print(\"in\")' >&2",
            r"\! (sleep 987654 &) ; (setsid sleep 987654 &)",
            f"COPY never FROM '{secret}';",
            "COPY never FROM PROGRAM 'id';",
            r"\connect - frepo_administrator",
            "ALTER ROLE restored SUPERUSER;",
        ]
        result = test(edited(dump, b"\nCREATE TABLE", ("\n" + "\n".join(attacks) + "\nCREATE TABLE").encode()))
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()

    assert "not checked" == result.outcome
    assert "secret\n" not in result.output
    assert [] == [one for one in (mark, Path("/usr/owned"), Path("/etc/owned")) if one.exists()]
    assert [] == [one for one in Path("/proc").glob("[0-9]*/cmdline") if b"987654" in _read(one)]


@pytest.mark.costly
@pytest.mark.parametrize("attack", [rb"\! sleep 300", rb"\! f() { f | f & }; f; sleep 300", b"SELECT pg_sleep(300);"])
def test_a_restore_that_hangs_or_forks_is_ended_and_leaves_nothing(test, dump, attack):
    result = test(edited(dump, b"\nCREATE TABLE", b"\n" + attack + b"\nCREATE TABLE"), seconds=30.0)

    assert "not checked" == result.outcome
    assert "it did not end within 30s" in result.message


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""
