"""A row never points at missing bytes, however a commit or the process ends."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from frepo_core.errors import DatabaseUnavailableError
from support.logs import log_recorder

pytestmark = pytest.mark.databases

LOST = sqlite3.OperationalError("server closed the connection unexpectedly")


def lost_before(connection):
    """The connection breaks before the database receives the COMMIT."""
    raise OperationalError("COMMIT", {}, LOST, connection_invalidated=True)


def lost_after(connection):
    """The database commits, but its answer is lost."""
    connection.connection.dbapi_connection.commit()
    raise OperationalError("COMMIT", {}, LOST, connection_invalidated=True)


def read(services, version):
    with services.stored_content.open(version.file.blob) as content:
        return content.read()


def test_a_commit_whose_answer_is_lost_keeps_the_bytes_of_its_row(services, at_commit, make_collection, push):
    collection = make_collection()
    at_commit(lost_after)
    with pytest.raises(DatabaseUnavailableError):
        push(collection, b"kept")

    assert [b"kept"] == [read(services, version) for version in services.versions.list(collection)]


def test_a_lost_commit_leaves_an_orphan_at_most(at_commit, make_collection, push, numbers, keys, blob_keys):
    collection = make_collection()
    at_commit(lost_before)
    with pytest.raises(DatabaseUnavailableError):
        push(collection, b"orphan")

    assert ([], 1, []) == (numbers(collection), len(keys()), blob_keys())


def test_an_unknown_outcome_is_not_retried(at_commit, make_collection, push, numbers):
    """A retry after a successful commit would make two versions of one push."""
    collection = make_collection()
    at_commit(lost_after)
    with pytest.raises(DatabaseUnavailableError):
        push(collection, b"once")

    assert [1] == numbers(collection)


def test_an_unknown_outcome_of_an_eviction_keeps_every_byte(services, at_commit, make_collection, push, keys):
    collection = make_collection(1)
    push(collection, b"old")
    at_commit(lost_before)
    with pytest.raises(DatabaseUnavailableError):
        push(collection, b"new")

    assert ([b"old"], 2) == ([read(services, version) for version in services.versions.list(collection)], len(keys()))


def test_the_push_after_an_unknown_outcome_is_a_separate_version(services, at_commit, make_collection, push):
    collection = make_collection()
    at_commit(lost_after)
    with pytest.raises(DatabaseUnavailableError):
        push(collection, b"same")
    push(collection, b"same")

    assert [(1, b"same"), (2, b"same")] == [
        (version.number, read(services, version)) for version in services.versions.list(collection)
    ]


CRASH = """
import io, os, signal, sys
from sqlalchemy import event
from frepo_core.db import migrations
from frepo_core import assemble
from frepo_core.services.content.blobs.blob_write import BlobWrite
from frepo_core.services.files.files import NewFile
from frepo_core.services.content.ingest import Incoming
from frepo_core.domain.identity import Identity
from frepo_core.domain.roles import Role

folder, where = sys.argv[1:]
services = assemble({
    "app.env": "test", "app.secret": "s" * 20, "enc.token_phrase": "p" * 20,
    "database.url": f"sqlite:///{folder}/frepo.db", "fs.adapter": "local", "fs.local.directory": f"{folder}/storage",
}, {})
migrations.upgrade(services.database.engine)
identity = Identity(token="", fingerprint="f", roles=frozenset({Role.ADMINISTRATOR}))
services.files.add(NewFile(name="old.txt"), Incoming(stream=io.BytesIO(b"old")), by=identity)

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

storages = services.stored_content._backends
backend = storages.get(storages.current)
if where == "store":
    backend.stat = die
elif where == "statement":
    @event.listens_for(services.database.engine, "before_cursor_execute")
    def look(connection, cursor, statement, *_):
        if statement.startswith("INSERT INTO file"):
            die()
elif where == "commit":
    event.listen(services.database.engine, "commit", die)
elif where == "after":
    BlobWrite.__exit__ = die
services.files.add(NewFile(name="new.txt"), Incoming(stream=io.BytesIO(b"new" * 1000)), by=identity)
"""


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        pytest.param("store", 1, marks=pytest.mark.costly),
        pytest.param("statement", 1, marks=pytest.mark.costly),
        ("commit", 1),
        ("after", 2),
    ],
)
def test_a_crash_at_any_step_leaves_an_orphan_at_most(tmp_path, where, rows):
    ended = subprocess.run(
        [sys.executable, "-c", CRASH, str(tmp_path), where], check=False, env=os.environ | log_recorder.environment()
    )
    with contextlib.closing(sqlite3.connect(tmp_path / "frepo.db")) as database:
        keys = {
            key
            for (key,) in database.execute("SELECT key FROM object JOIN file ON object.content_id = file.content_id")
        }
    storage = tmp_path / "storage"
    present = {path.relative_to(storage).as_posix() for path in storage.rglob("*") if Path(path).is_file()}

    assert (-signal.SIGKILL, rows, 2) == (ended.returncode, len(keys), len(present))
    assert keys <= present
