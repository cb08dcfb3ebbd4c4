"""A version that is restored has its number again, and is not evicted for some time."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import TrashEntry, Version
from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.errors import NotFoundError, RestoreConflictError
from frepo_core.services.backups.rows.collection_change import CollectionChange


@pytest.fixture
def restore(services, sender):
    return lambda collection, number: services.trash.restore(collection, number, by=sender)


@pytest.fixture
def edit(services, sender):
    return lambda collection, limits: services.collections.edit(collection, CollectionChange(limits=limits), by=sender)


@pytest.fixture
def with_trash(make_collection, push, edit):
    """Make a collection of version 2, with version 1 in the trash, and new limits."""

    def make(limits):
        collection = make_collection(1)
        push(collection, b"first")
        push(collection, b"second")
        edit(collection, limits)
        return collection

    return make


@pytest.mark.databases
def test_it_has_its_number_its_id_and_its_content(services, with_trash, restore, entries, numbers, push):
    collection = with_trash({COUNT: 4})

    restored = restore(collection, 1)

    blob = restored.file.blob
    assert ([1, 2], []) == (numbers(collection), entries())
    assert services.stored_content.read(blob, 0, blob.size) == b"first"
    assert services.versions.find(collection, restored.id) == services.versions.find(collection, "v1")
    assert 3 == push(collection, b"third").version.number
    record = services.collections.get(collection)
    assert (3, 16) == (record.versions_count, record.stored_size)


@pytest.mark.databases
def test_it_takes_the_next_free_stored_name(services, make_collection, push, restore, upload, sender):
    collection = make_collection()
    name = push(collection, b"first").version.file.stored_name
    services.versions.delete(collection, "v1", by=sender)
    taken = upload(b"first", name=name[10:]).file.stored_name

    restored = restore(collection, 1)

    assert (name, True) == (taken, restored.file.stored_name != name)
    assert restored.file.requested_name == name[10:]


@pytest.mark.databases
def test_it_is_not_evicted_until_the_time_is_over(services, with_trash, restore, numbers, push):
    collection = with_trash({COUNT: 3})
    restore(collection, 1)
    for content in (b"third", b"fourth", b"fifth"):
        push(collection, content)
    protected = numbers(collection)

    past = utc_now() - timedelta(seconds=1)
    services.database.write(lambda session: _end_protection(session, past))
    push(collection, b"sixth")

    assert ([1, 4, 5], [4, 5, 6]) == (protected, numbers(collection))


def _end_protection(session, past):
    for row in session.query(Version).where(Version.protected_until.is_not(None)):
        row.protected_until = past


def test_a_collection_of_a_limited_size_refuses_it(make_collection, push, restore):
    collection = make_collection(0, limits={ONE: 6, TOTAL: 10})
    push(collection, b"first")
    push(collection, b"second")

    with pytest.raises(
        RestoreConflictError, match="has 6 bytes of 10 bytes, the version has 5 bytes. .*1 byte more"
    ) as no:
        restore(collection, 1)
    assert {"limits": {"total_size": 11}} == no.value.context


def test_the_limits_that_would_be_enough_are_named_and_are_enough(
    services, make_collection, push, restore, edit, numbers
):
    collection = make_collection(limits={ONE: 0, TOTAL: 0})
    push(collection, b"x" * 100)
    push(collection, b"second")
    services.versions.delete(collection, "v1")
    edit(collection, {COUNT: 1, ONE: 99})
    edit(collection, {TOTAL: 105})

    with pytest.raises(RestoreConflictError) as no:
        restore(collection, 1)
    needed = no.value.context["limits"]
    assert {"version_size": 100, "versions": 2, "total_size": 200} == needed
    edit(collection, {COUNT: needed["versions"], ONE: needed["version_size"], TOTAL: needed["total_size"]})
    restore(collection, 1)

    assert [1, 2] == sorted(numbers(collection))


def test_it_is_refused_if_no_upload_would_be_accepted_after_it(services, make_collection, push, restore, numbers):
    collection = make_collection(2)
    for content in (b"first", b"second", b"third"):
        push(collection, content)
    services.versions.delete(collection, "v2")
    restore(collection, 1)
    services.versions.delete(collection, "v3")

    with pytest.raises(RestoreConflictError, match="1 versions of 2.*needs a limit of 3 versions"):
        restore(collection, 3)

    push(collection, b"fourth")
    assert [1, 4] == numbers(collection)


def test_a_version_that_is_larger_than_one_may_be_is_refused(services, make_collection, push, restore, edit):
    collection = make_collection()
    push(collection, b"x" * 100)
    services.versions.delete(collection, "v1")
    edit(collection, {ONE: 99})

    with pytest.raises(RestoreConflictError, match="100 bytes, 1 byte more than the collection allows"):
        restore(collection, 1)


def test_one_whose_number_is_taken_is_refused(services, with_trash, restore, numbers):
    collection = with_trash({COUNT: 4})
    services.database.execute(update(TrashEntry).values(number=2))

    with pytest.raises(RestoreConflictError, match="another version with the number 2"):
        restore(collection, 2)

    assert [2] == numbers(collection)


def test_the_entry_of_another_collection_is_not_found(with_trash, make_collection, restore):
    with_trash({COUNT: 9})

    with pytest.raises(NotFoundError):
        restore(make_collection(), 1)


def test_its_event_says_why_it_was_removed_and_until_when_it_is_protected(services, with_trash, restore, facts):
    collection = with_trash({COUNT: 9})
    (entry,) = services.trash.list(collection)

    restored = restore(collection, 1)

    ((number, data),) = facts("version.restored")
    assert (1, "evicted", entry.evicted_at.isoformat()) == (number, data["removed"], data["removed_at"])
    assert (restored.protected_until.isoformat(), 5) == (data["protected_until"], data["size"])


@pytest.mark.databases
def test_of_two_that_restore_it_at_once_one_succeeds(with_trash, restore, numbers, at_once):
    collection = with_trash({COUNT: 9})

    results = at_once(lambda _: restore(collection, 1), range(2))

    assert [NotFoundError] == [type(one) for one in results if isinstance(one, Exception)]
    assert [1, 2] == numbers(collection)


@pytest.mark.databases
def test_uploads_that_evict_the_contents_of_each_other_do_not_wait_for_each_other(make_collection, push, at_once):
    """The entry of the trash locks its blob, which another upload uses at the same time."""
    collections = [make_collection(1), make_collection(1)]
    contents = [b"one", b"two"]
    for collection, content in zip(collections, contents, strict=True):
        push(collection, content)

    for _ in range(5):
        contents.reverse()
        results = at_once(lambda place: push(collections[place], contents[place]), range(2))
        assert [] == [one for one in results if isinstance(one, Exception)]
