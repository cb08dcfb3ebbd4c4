"""Adopting a blob while its last user is deleted, and collecting unused blobs after the commit, one by one."""

import logging

import pytest
from sqlalchemy import select

from frepo_core.db.models import StoredObject
from frepo_core.domain.limits import ONE, TOTAL
from frepo_core.domain.roles import Role
from frepo_core.errors import DatabaseUnavailableError
from frepo_core.services.content.blobs.blob_write import BlobVanishedError
from frepo_core.testing import Fail

pytestmark = pytest.mark.databases


@pytest.fixture
def ini(ini):
    """Without the trash, which uses the bytes of what is deleted."""
    return ini | {"trash.keep": "0"}


@pytest.fixture
def delete(services, sender):
    return lambda added: services.files.delete(added.file.stored_name, "", by=sender)


def read(services, file):
    with services.stored_content.open(file.blob) as content:
        return content.read()


def test_a_blob_that_is_deleted_before_it_is_adopted_is_stored_again(
    services, wrap, upload, push, make_collection, delete, keys, blob_keys
):
    """The last user is deleted between the lookup of the content and the write."""
    added, collection = upload(b"same"), make_collection()
    storage = wrap()
    real = storage.inner.stat

    def stat_then_lose(key):
        found = real(key)
        if storage.calls["stat"] == 1:
            delete(added)
        return found

    storage.inner.stat = stat_then_lose
    version = push(collection, b"same").version
    del storage.inner.stat

    assert (b"same", 1, keys()) == (read(services, version.file), len(keys()), blob_keys())


def test_a_blob_that_is_deleted_at_each_retry_is_refused_as_busy_without_loss(
    services, wrap, upload, push, make_collection, state, monkeypatch
):
    monkeypatch.setattr("frepo_core.services.content.blobs.blob_write.BlobWrite._use_key", _vanish)
    collection = make_collection()
    before = state()
    with pytest.raises(DatabaseUnavailableError):
        push(collection, b"same")

    assert before == state()


def _vanish(write, session, *more):
    raise BlobVanishedError


@pytest.mark.costly
def test_concurrent_adoption_and_deletion_never_leave_a_row_without_bytes(
    services, upload, push, make_collection, delete, at_once, keys, blob_keys
):
    for turn in range(8):
        content = f"content {turn}".encode()
        added, collection = upload(content), make_collection()
        both = at_once(
            lambda job: job(),
            [lambda added=added: delete(added), lambda content=content, to=collection: push(to, content)],
        )

        assert content == read(services, both[1].version.file)

    assert keys() == blob_keys()


def test_an_evicted_blob_that_another_version_uses_is_kept(services, make_collection, push, upload, keys, caplog):
    collection = make_collection(1)
    kept = upload(b"old")
    push(collection, b"old")
    push(collection, b"new")

    # The deletion is not attempted, although the foreign key would refuse it.
    warnings = [record for record in caplog.records if record.levelno > logging.INFO]
    assert (b"old", 2, []) == (read(services, kept.file), len(keys()), warnings)


def test_evicted_blobs_are_deleted_only_after_the_commit(wrap, at_commit, make_collection, push):
    collection = make_collection(1)
    push(collection, b"old")
    storage, deletions = wrap(), []
    at_commit(lambda _: deletions.append(storage.calls["delete"]), nth=0)
    push(collection, b"new")

    # The version's transaction, then the one that dooms the object, then the bytes, then its record.
    assert ([0, 0, 1], 1) == (deletions, storage.calls["delete"])


def test_the_bytes_of_an_object_are_deleted_after_it_was_doomed(services, wrap, make_collection, push):
    collection = make_collection(1)
    push(collection, b"old")
    storage, rows = wrap(), []
    real = storage.delete

    def look_then_delete(key):
        with services.database.reading() as session:
            rows.append(session.scalar(select(StoredObject.state).where(StoredObject.key == key)))
        real(key)

    storage.delete = look_then_delete
    push(collection, b"new")

    assert ["doomed"] == rows


@pytest.mark.parametrize("error", [None, lambda: RuntimeError("a bug in a plug-in")])
def test_a_failure_to_collect_is_left_to_the_sweep(wrap, make_collection, push, numbers, keys, error):
    collection = make_collection(1)
    push(collection, b"old")
    wrap(Fail("delete", **({"error": error} if error else {})))
    push(collection, b"new")

    assert ([2], 2) == (numbers(collection), len(keys()))


def test_a_database_that_fails_while_collecting_does_not_fail_the_push(
    at_commit, make_collection, push, numbers, keys, blob_keys
):
    collection = make_collection(1)
    push(collection, b"old")

    def fail(_):
        raise RuntimeError("gone")

    at_commit(fail, nth=2)
    push(collection, b"new")

    assert ([2], 2, blob_keys()) == (numbers(collection), len(keys()), keys())


def test_a_blob_that_cannot_be_collected_does_not_stop_the_others(wrap, make_collection, push, keys):
    collection = make_collection(0, limits={ONE: 20, TOTAL: 20})
    for content in (b"one", b"two", b"three"):
        push(collection, content)
    wrap(Fail("delete", nth=1))
    push(collection, b"x" * 20)

    assert 2 == len(keys())


def test_concurrent_pushes_deletions_and_uploads_of_the_same_contents_lose_nothing(
    services, identify, make_collection, push, upload, delete, at_once, keys, blob_keys
):
    """Six threads use three contents with rotation; afterwards exactly the bytes of all rows exist."""
    collection = make_collection(2)
    senders = [identify(Role.ADMINISTRATOR) for _ in range(6)]  # uploads of one token may overtake each other

    def work(number):
        sender = senders[number]
        for turn in range(8):
            content = f"content {(number + turn) % 3}".encode()
            if number % 2:
                push(collection, content, by=sender)
            else:
                delete(upload(content, name=f"{number}-{turn}.txt", password=f"{number}-5ecre7", by=sender))

    errors = [error for error in at_once(work, range(6)) if error]
    versions = services.versions.list(collection)

    assert ([], keys()) == (errors, blob_keys())
    assert [23, 24] == [version.number for version in versions]
    assert all(read(services, version.file).startswith(b"content") for version in versions)


def test_a_collection_of_blobs_ends_with_one_line_if_the_database_does_not_answer(services, upload, keys, caplog):
    for number in range(3):
        upload(b"%d" % number)
    with services.database.request(0):
        services.blobs.collect(range(1, 100))

    [line] = [record.getMessage() for record in caplog.records if "collected" in record.getMessage()]
    assert "99 blobs were not collected, storage:sweep will delete them" in line
    assert 3 == len(keys())


def test_two_concurrent_deletions_of_one_file_cause_no_error(upload, delete, at_once, keys):
    added = upload(b"once")
    results = at_once(delete, [added, added])

    assert [] == [error for error in results if error and "not found" not in str(error)]
    assert [] == keys()


def test_threads_that_wait_for_the_writer_succeed(upload, at_once):
    done = at_once(lambda number: upload(f"{number}".encode(), name=f"{number}.txt"), range(16))

    assert 16 == len({added.file.id for added in done})


def test_a_file_that_is_deleted_while_it_is_looked_up_is_whole_or_not_found(services, sender, upload, at_statement):
    """PostgreSQL and MariaDB show other transactions' commits between two statements."""
    name = upload(b"going").file.stored_name
    at_statement("SELECT", lambda: services.files.delete(name, "", by=sender), nth=2)
    assert 5 == services.files.find(name).blob.size
