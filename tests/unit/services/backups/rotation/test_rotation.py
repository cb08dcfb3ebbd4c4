"""A version is removed only after its replacement is committed; refusals and failures change nothing."""

import sqlite3

import pytest
from sqlalchemy.exc import OperationalError

from frepo_core.domain.limits import ONE, TOTAL
from frepo_core.domain.roles import Role
from frepo_core.errors import (
    AccessDeniedError,
    DatabaseUnavailableError,
    DigestMismatchError,
    EmptyContentError,
    FrepoError,
    MalformedRequestError,
    RuleError,
    StorageFull,
    StorageUnavailable,
    TooBigError,
    TypeNotAllowedError,
)
from frepo_core.services.content.ingest import Incoming
from frepo_core.testing import Fail, Truncate
from frepo_core.testing.sources import Source


def broken(*_):
    raise OperationalError("", {}, sqlite3.OperationalError("disk I/O error"))


def full(*_):
    raise OperationalError("", {}, sqlite3.OperationalError("database or disk is full"))


@pytest.fixture
def collection(make_collection, push):
    """A full collection: each accepted version removes another one."""
    collection = make_collection(2)
    push(collection, b"one")
    push(collection, b"two")
    return collection


@pytest.mark.parametrize(
    "fault",
    [
        Fail("store"),
        Fail("store", after=2),
        Fail("store", error=lambda: StorageFull("full")),
        Fail("store", error=lambda: RuntimeError("a bug in a plug-in")),
        Fail("stat"),
        Truncate("store", after=3),
        Truncate("store", after=0),
    ],
)
def test_a_storage_that_fails_changes_nothing(wrap, collection, push, state, fault):
    before = state()
    wrap(fault)
    with pytest.raises((FrepoError, RuntimeError)):
        push(collection, b"three")

    assert before == state()


@pytest.mark.databases
@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO content", "DELETE FROM version", "DELETE FROM file", "INSERT INTO file", "INSERT INTO ver"],
)
@pytest.mark.parametrize(("fault", "error"), [(broken, DatabaseUnavailableError), (full, StorageFull)])
def test_a_database_that_fails_in_the_transaction_changes_nothing(
    at_statement, collection, push, state, statement, fault, error
):
    before = state()
    at_statement(statement, fault)
    with pytest.raises(error):
        push(collection, b"three")

    assert before == state()


@pytest.mark.databases
def test_a_commit_that_fails_removes_nothing_and_leaves_an_orphan_at_most(at_commit, collection, push, state, keys):
    before = state()
    at_commit(broken)
    with pytest.raises(DatabaseUnavailableError):
        push(collection, b"three")
    after = state()

    assert (before | {"keys": after["keys"]}, 3) == (after, len(keys()))


def test_an_incomplete_body_changes_nothing(collection, push, state):
    before = state()

    def vanish():
        raise ConnectionResetError

    with pytest.raises(MalformedRequestError):
        push(collection, Source(5 << 20, at=3 << 20, do=vanish))

    assert before == state()


def test_a_wrong_digest_changes_nothing(services, sender, collection, state):
    before = state()
    incoming = Incoming(stream=Source(1000).file, sha256=("0" * 64,))
    with pytest.raises(DigestMismatchError):
        services.add_version.add(services.collections.get(collection), incoming, by=sender)

    assert before == state()


def test_an_empty_version_changes_nothing(collection, push, state):
    before = state()
    with pytest.raises(EmptyContentError):
        push(collection, b"")

    assert before == state()


@pytest.mark.parametrize(
    ("settings", "content"),
    [
        ({"strategy": "alert_when_backup_limit_reached"}, b"three"),
        ({"limits": {ONE: 10}}, b"x" * 11),
        ({"limits": {ONE: 10, TOTAL: 20}}, b"x" * 21),
    ],
)
def test_a_refused_version_changes_nothing(make_collection, push, state, settings, content):
    collection = make_collection(2, **settings)
    push(collection, b"one")
    push(collection, b"two")
    before = state()
    with pytest.raises(RuleError):
        push(collection, content)

    assert before == state()


def test_a_version_without_permission_changes_nothing(identify, collection, push, state):
    small, pictures = identify(Role.ADMINISTRATOR, max_file_size=3), identify(Role.ADMINISTRATOR, mimes=["image/png"])
    before = state()
    for token, error in ((small, TooBigError), (pictures, TypeNotAllowedError)):
        with pytest.raises(error):
            push(collection, b"three", by=token)

    assert before == state()


@pytest.mark.databases
def test_a_collection_that_fills_up_during_the_upload_refuses_it_and_keeps_all(make_collection, push, numbers, keys):
    """The early check is not final: the strategy is called again in the transaction."""
    collection = make_collection(1, strategy="alert_when_backup_limit_reached")
    with pytest.raises(RuleError):
        push(collection, Source(1 << 21, at=1 << 20, do=lambda: push(collection, b"faster")))

    assert ([1], 1) == (numbers(collection), len(keys()))


def test_a_plain_file_that_is_refused_changes_nothing(identify, upload, state):
    reader = identify(Role.VIEW_ANY_FILE)
    before = state()
    with pytest.raises(AccessDeniedError):
        upload(b"x", by=reader)

    assert before == state()


@pytest.mark.parametrize("fault", [Fail("store"), Fail("stat"), Truncate("store", after=1)])
def test_a_plain_file_that_fails_changes_nothing(wrap, upload, state, fault):
    before = state()
    wrap(fault)
    with pytest.raises(StorageUnavailable):
        upload(b"hello", tags=["new"])

    assert before == state()


def test_a_failed_undo_does_not_hide_the_error_of_the_upload(wrap, collection, push):
    wrap(Fail("stat", error=lambda: StorageFull("no room")), Fail("delete", error=lambda: RuntimeError("a bug")))
    with pytest.raises(StorageFull):
        push(collection, b"three")


@pytest.mark.databases
def test_a_version_of_the_whole_collections_size_replaces_all(make_collection, push, numbers, keys):
    collection = make_collection(0, limits={ONE: 20, TOTAL: 20})
    for content in (b"one", b"two", b"three"):
        push(collection, content)
    push(collection, b"x" * 20)

    assert ([4], 4) == (numbers(collection), len(keys()))  # the trash has the other three
