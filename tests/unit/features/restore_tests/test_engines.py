"""Engines restore in a box made by bubblewrap: what loads is good, what does not is broken, the rest is not known."""

import gzip
import io
import sqlite3
import tarfile

import pytest

from frepo_core.features.restore_tests.choices import Choice
from frepo_core.features.restore_tests.feature import RestoreTestServices

DUMP = b"""PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE orders (id INTEGER, at TEXT);
INSERT INTO orders VALUES(1,'2026-08-01 10:00:00');
INSERT INTO orders VALUES(2,'2026-08-02 10:00:00');
CREATE TABLE empty (id INTEGER);
COMMIT;
"""


@pytest.fixture
def ini(ini, open_directory):
    engines = {"restore_tests.engines": "sqlite, tar, command", "restore_tests.command": "gunzip -t"}
    return ini | engines | {"temp_directory": open_directory}


@pytest.fixture
def choose(services, collection):
    """Choose an engine for the collection."""

    def choose(engine, **assertions):
        record = services.collections.get(collection)
        choice = Choice(engine=engine, assertions=assertions)
        services.feature(RestoreTestServices).choices.set(record, choice, by=None)

    return choose


@pytest.fixture
def test(services, collection, push, choose):
    """Push a content, and restore it with an engine."""

    def test(content, engine="sqlite"):
        choose(engine)
        push(collection, content)
        return services.feature(RestoreTestServices).tests.run(services.collections.get(collection), by=None)

    return test


def database(tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(DUMP.decode())
    connection.close()
    return path.read_bytes()


def archive(*names):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as made:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 4
            made.addfile(member, io.BytesIO(b"1234"))
    return file.getvalue()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_dump_that_loads_is_good(test, pack, recorded):
    result = test(pack(DUMP))

    assert ("good", {"orders": True, "empty": False}) == (result.outcome, result.tables)
    assert result.message.startswith("restored by sqlite from all ")
    assert {1: "good"} == recorded()


def test_a_database_that_is_whole_is_good(test, tmp_path):
    assert "good" == test(database(tmp_path)).outcome


def test_a_damaged_database_is_broken(test, tmp_path):
    content = bytearray(database(tmp_path))
    content[4096:4200] = b"x" * 104

    result = test(bytes(content))

    assert "broken" == result.outcome
    assert result.message.startswith("it does not load: SQLite ")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (DUMP[: DUMP.index(b"COMMIT")], "the dump ends before its COMMIT"),
        (DUMP.replace(b"COMMIT", b"ROLLBACK"), "the dump ends with a ROLLBACK"),
        (gzip.compress(DUMP)[:-20], "the compressed content is damaged"),
        (DUMP.replace(b"INTO orders", b"INTO order"), 'near "order": syntax error'),
    ],
)
def test_what_is_whole_for_its_sender_and_does_not_load_is_broken(test, content, text):
    result = test(content)

    assert "broken" == result.outcome
    assert text in result.message


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"just a text", "this is neither a database of SQLite"),
        (b"age-encryption.org/v1\n", "the content is encrypted"),
        (DUMP.replace(b"TABLE empty (id INTEGER)", b"VIRTUAL TABLE e USING spellfix1"), "no such module: spellfix1"),
    ],
)
def test_what_cannot_be_decided_is_not_broken(test, content, text):
    result = test(content)

    assert "not checked" == result.outcome
    assert text in result.message


def test_a_tar_archive_is_unpacked(test):
    result = test(archive("etc/passwd", "/etc/nginx/nginx.conf", "home/file"), "tar")

    assert ("good", {"etc": True, "home": True}) == (result.outcome, result.tables)


def test_an_archive_that_ends_early_is_broken(test):
    content = gzip.decompress(archive("etc/passwd", "etc/group"))[:1700]

    assert "broken" == test(content, "tar").outcome


def test_the_command_runs_in_the_box(test):
    assert ["good", "broken"] == [test(each, "command").outcome for each in (gzip.compress(DUMP), b"no gzip")]


def test_an_engine_that_is_not_installed_says_what_to_install(test, services, monkeypatch):
    names = services.feature(RestoreTestServices).engines
    monkeypatch.setattr(names, "names", ("acme:1",))

    result = test(DUMP, "acme:1")

    assert ("not checked", False) == (result.outcome, result.is_started)
    assert "pip install frepo-restore-acme" in result.message


def test_without_bubblewrap_there_is_no_sandbox_and_the_result_says_what_gives_one(test, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    result = test(DUMP)

    assert ("not checked", False) == (result.outcome, result.is_started)
    assert result.message.startswith("no sandbox: install bubblewrap")
