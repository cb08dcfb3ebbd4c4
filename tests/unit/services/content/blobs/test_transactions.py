"""No transaction and no connection is held while bytes are transferred; only the short write is retried."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor, wait
from hashlib import sha256
from io import BytesIO

import psycopg
import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from frepo_core import assemble
from frepo_core.db.models import File, Tag
from frepo_core.domain.naming import stored_name
from frepo_core.errors import DatabaseUnavailableError
from frepo_core.testing import Stall
from frepo_core.testing.sources import Source

pytestmark = pytest.mark.databases


class CountingStream(BytesIO):
    """Counts the bytes that are read, and how often reading starts at the beginning."""

    def __init__(self, content):
        super().__init__(content)
        self.starts = 0
        self.taken = 0

    def read(self, size=-1):
        self.starts += self.tell() == 0
        data = super().read(size)
        self.taken += len(data)
        return data


def locked(*_):
    raise OperationalError("COMMIT", {}, sqlite3.OperationalError("database is locked"))


def locked_out(*_):
    raise OperationalError("UPDATE", {}, psycopg.errors.DeadlockDetected("deadlock detected"))


def taken(*_):
    raise IntegrityError("INSERT", {}, sqlite3.IntegrityError("UNIQUE constraint failed: blob.digest"))


def broken(*_):
    raise OperationalError("INSERT", {}, sqlite3.OperationalError("disk I/O error"))


@pytest.mark.parametrize("method", ["store", "stat"])
def test_no_connection_is_held_while_the_storage_is_slow(services, wrap, make_collection, push, method):
    collection = make_collection()
    stall = Stall(method)
    wrap(stall)
    with ThreadPoolExecutor() as pool:
        pushed = pool.submit(push, collection, b"slow")
        assert stall.reached.wait(60)
        held = services.database.engine.pool.checkedout()
        stall.release.set()
        pushed.result()

    assert held == 0


def test_no_connection_is_held_while_the_body_is_received(services, make_collection, push):
    held = []
    content = Source(3 << 20, at=1 << 20, do=lambda: held.append(services.database.engine.pool.checkedout()))
    push(make_collection(), content)

    assert held == [0]


def test_other_writers_commit_while_a_store_is_slow(wrap, make_collection, push, numbers):
    collection = make_collection()
    stall = Stall("store")
    wrap(stall)
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(push, collection, b"slow")
        assert stall.reached.wait(60)
        fast = push(collection, b"fast").version.number
        stall.release.set()

        assert (1, 2) == (fast, slow.result().version.number)


def test_no_connection_is_held_while_the_storage_deletes_slowly(services, wrap, upload, sender):
    name = upload(b"old").file.stored_name
    stall = Stall("delete")
    wrap(stall)
    with ThreadPoolExecutor() as pool:
        deleted = pool.submit(services.files.delete, name, "", by=sender)
        assert stall.reached.wait(60)
        held = services.database.engine.pool.checkedout()
        stall.release.set()
        deleted.result()

    assert held == 0


@pytest.mark.parametrize("conflict", [locked, locked_out, taken])
def test_a_conflict_at_commit_is_retried_without_the_body(wrap, at_commit, make_collection, push, conflict):
    collection, storage, content = make_collection(), wrap(), CountingStream(b"x" * 1000)
    at_commit(conflict)
    push(collection, content)

    # The body is read twice: to hash it, and to store it.
    assert (1, 2, 2000) == (storage.calls["store"], content.starts, content.taken)


@pytest.mark.parametrize("statement", ["INSERT INTO blob", "INSERT INTO file", "INSERT INTO version", "UPDATE coll"])
def test_a_conflict_at_each_statement_is_retried(wrap, at_statement, make_collection, push, numbers, statement):
    storage = wrap()
    for number, conflict in enumerate([locked, locked_out, taken], 1):
        collection = make_collection()
        at_statement(statement, conflict)
        push(collection, b"once %d" % number)

        assert ([1], number) == (numbers(collection), storage.calls["store"]), conflict


def test_a_write_succeeds_after_nine_conflicts(wrap, at_commit, make_collection, push):
    collection, storage, left = make_collection(), wrap(), list(range(9))
    at_commit(lambda _: left and (left.pop(), locked()), nth=0)
    assert (1, 1) == (push(collection, b"patience").version.number, storage.calls["store"])


def test_endless_conflicts_are_refused_and_leave_nothing(at_statement, make_collection, push, state, services):
    collection = make_collection()
    before = state()
    at_statement("INSERT INTO version", locked, nth=0)
    with pytest.raises(DatabaseUnavailableError):
        push(collection, b"never")

    assert before == state()


def test_other_errors_are_not_retried(at_statement, make_collection, push):
    tries = []
    collection = make_collection()
    at_statement("INSERT INTO version", lambda: (tries.append(1), broken()), nth=0)
    with pytest.raises(DatabaseUnavailableError):
        push(collection, b"once only")

    assert [1] == tries


def test_a_connection_whose_commit_failed_is_clean_for_the_next(at_commit, make_collection, push, numbers):
    collection = make_collection()
    at_commit(broken)
    with pytest.raises(DatabaseUnavailableError):
        push(collection, b"lost")
    push(collection, b"next")

    assert [1] == numbers(collection)


def test_a_writer_of_another_process_waits_without_errors(services, ini):
    """SQLite refuses a read transaction that writes after another commit, so writers lock at their start."""
    other, tries = assemble(ini, {}), []
    with ThreadPoolExecutor() as pool:

        def work(session):
            tries.append(session.scalars(select(Tag.name)).all())
            if len(tries) == 1:
                second = pool.submit(other.database.write, lambda session: session.add(Tag(name="second")))
                wait([second], 0.5)
            session.add(Tag(name="first"))
            session.flush()

        services.database.write(work)
    other.database.engine.dispose()

    assert [[]] == tries


def test_a_new_content_gets_another_stored_name_if_its_first_one_is_taken(services, upload):
    """The names of two contents begin with the same ten digits: one in a trillion pairs, or an attack."""
    first_name = stored_name(sha256(b"fresh").hexdigest(), "a.txt")
    older = upload(b"older").file.id
    rename = update(File).where(File.id == older).values(stored_name=first_name)
    services.database.write(lambda session: session.execute(rename))

    fresh = upload(b"fresh").file

    assert stored_name(sha256(b"fresh").hexdigest(), "a.txt", attempt=1) == fresh.stored_name
    assert services.stored_content.read(fresh.blob, 0, fresh.blob.size) == b"fresh"
    assert older == services.files.find(first_name).id
