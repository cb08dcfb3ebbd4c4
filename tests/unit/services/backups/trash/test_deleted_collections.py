"""A deleted collection can be restored with its settings, its list of tokens and its versions."""

from datetime import timedelta

import pytest

from frepo_core.domain.backups.guards import Guards
from frepo_core.domain.limits import COUNT, Limits
from frepo_core.domain.roles import Role
from frepo_core.errors import (
    AccessDeniedError,
    CollectionNotEmptyError,
    FieldsError,
    NotFoundError,
    RestoreConflictError,
    VersionTooYoungError,
)
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.trash.collection_removal import collection_from
from frepo_core.services.backups.trash.expiry import end_expired
from frepo_core.services.base.keyset import PageRequest
from frepo_core.services.base.records import CollectionRecord


@pytest.fixture
def delete(services, sender):
    return lambda collection, **more: services.collections.delete(
        collection, by=sender, **({"with_versions": True} | more)
    )


@pytest.fixture
def restore(services, sender):
    return lambda name, by=None: services.deleted_collections.restore(name, by=by or sender)


@pytest.mark.databases
def test_it_comes_back_as_it_was(services, make_collection, push, delete, restore, numbers, identify):
    options = {"description": "nightly", "expected_every": "P1D", "labels": ["db"], "password": "collection-5ecre7"}
    collection = make_collection(2, **options)
    listed = identify(Role.UPLOAD_VERSIONS)
    services.token_lists.allow(collection, listed.token)
    for content in (b"first", b"second", b"third"):
        push(collection, content)
    before = services.collections.get(collection)
    versions = services.versions.list(collection)
    delete(collection)
    with pytest.raises(FieldsError):
        services.collections.get(collection)

    assert (2, [2, 3]) == (restore(collection).versions, numbers(collection))
    assert before == services.collections.get(collection)
    assert [one.id for one in versions] == [one.id for one in services.versions.list(collection)]
    assert services.collections.get_for_token(collection, listed)[1]
    assert [1] == [entry.number for entry in services.trash.list(collection)]
    assert 4 == push(collection, b"fourth").version.number
    assert [] == services.deleted_collections.list()


@pytest.mark.databases
def test_its_id_is_free_and_prevents_its_restoration_while_it_is_used(
    services, make_collection, push, delete, restore, numbers, sender
):
    collection = make_collection()
    push(collection, b"first")
    delete(collection)
    new = services.collections.create(CollectionChange(limits={}, filename="new.sql", id=collection), by=sender)
    push(new.id, b"other")

    with pytest.raises(RestoreConflictError, match=f"Another collection has the id {collection}"):
        restore(collection)

    assert [] == services.trash.list(collection)
    delete(collection)
    first, second = sorted(services.deleted_collections.list(), key=lambda one: one.deleted_at)
    assert ("dump.sql", "new.sql") == (first.name, second.name)
    assert "dump.sql" == restore(first.incarnation).collection.filename
    assert [1] == numbers(collection)
    with pytest.raises(RestoreConflictError):
        restore(second.incarnation)


def test_an_id_means_the_collection_that_was_deleted_last(services, make_collection, delete, restore, sender):
    collection = make_collection()
    delete(collection)
    services.collections.create(CollectionChange(limits={}, filename="new.sql", id=collection), by=sender)
    delete(collection)

    assert "new.sql" == restore(collection).collection.filename


def test_a_collection_with_a_version_younger_than_the_minimal_retention_stays(
    make_collection, push, delete, numbers, entries
):
    collection = make_collection(guards={"min_retention": timedelta(days=30)})
    push(collection, b"first")

    with pytest.raises(VersionTooYoungError):
        delete(collection)

    assert ([1], []) == (numbers(collection), entries())


def test_an_empty_collection_can_be_restored_too(services, make_collection, delete, restore):
    collection = make_collection()

    delete(collection, with_versions=False)

    assert 0 == restore(collection).versions


def test_its_token_restores_it_and_no_other(services, identify, delete, restore, push):
    owner = identify(Role.CREATE_COLLECTIONS, Role.UPLOAD_VERSIONS, Role.RESTORE_FROM_TRASH)
    other = identify(Role.RESTORE_FROM_TRASH, Role.DELETE_VERSIONS)
    without_role = identify(Role.MODIFY_ANY_COLLECTION)
    collection = services.collections.create(CollectionChange(limits={COUNT: 3}, filename="a.sql"), by=owner).id
    delete(collection)

    for stranger in (other, without_role):
        assert [] == services.deleted_collections.page(PageRequest(limit=9), by=stranger).items
        for act in (services.deleted_collections.restore, services.deleted_collections.end):
            with pytest.raises(NotFoundError):
                act(collection, by=stranger)

    (shown,) = services.deleted_collections.page(PageRequest(limit=9), by=owner).items
    with pytest.raises(AccessDeniedError, match="may only restore"):
        services.deleted_collections.end(collection, by=owner)
    assert (collection, "a.sql") == (shown.id, shown.name)
    assert collection == restore(collection, by=owner).collection.id


def test_the_successor_of_a_rotated_token_restores_it(services, identify, delete, sender):
    owner = identify(Role.CREATE_COLLECTIONS, Role.RESTORE_FROM_TRASH)
    collection = services.collections.create(CollectionChange(limits={COUNT: 3}, filename="a.sql"), by=owner).id
    delete(collection)

    done = services.token_changes.rotate(owner.fingerprint, timedelta(), by=sender)
    new = services.tokens.identify(done.id, address="127.0.0.1", user_agent="")

    assert services.deleted_collections.restore(collection, by=new).collection.id == collection
    assert services.collections.get_for_token(collection, new)[1]


@pytest.mark.databases
def test_it_can_be_ended_with_its_trash(services, make_collection, push, delete, sender, entries, keys):
    collection = make_collection(1)
    push(collection, b"first")
    push(collection, b"second")
    delete(collection)

    assert 2 == services.deleted_collections.end(collection, by=sender)

    assert ([], []) == (entries(), keys())
    assert [] == services.deleted_collections.list()


def test_it_ends_with_its_versions_when_its_time_is_over(services, make_collection, push, delete, keys):
    collection = make_collection(1)
    push(collection, b"first")
    delete(collection)
    (deleted,) = services.deleted_collections.list()
    end = lambda now: end_expired(services.database, services.blobs, now=now, by=None, keep_going=lambda: None)

    early = end(deleted.ends_at - timedelta(seconds=1))
    late = end(deleted.ends_at + timedelta(seconds=1))

    assert ({"versions": 0, "collections": 0}, {"versions": 1, "collections": 1}) == (early, late)
    assert ([], []) == (services.deleted_collections.list(), keys())


class TestOff:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"trash.keep": "0"}

    def test_a_collection_with_versions_cannot_be_deleted_and_an_empty_one_is_gone(
        self, services, make_collection, push, delete
    ):
        full, empty = make_collection(), make_collection()
        push(full, b"first")

        with pytest.raises(CollectionNotEmptyError):
            delete(full)
        delete(empty)

        assert [] == services.deleted_collections.list()


def test_a_copy_of_the_last_release_candidate_keeps_limits_and_guards():
    copy = {
        "id": "8b0a2c7e-54a1-4b1e-9f43-3f4f5c1d2e3a",
        "filename": "dump.sql",
        "description": "nightly",
        "strategy": "keep",
        "strategy_options": {"last": 3},
        "max_backups_count": 5,
        "max_one_version_size": 10,
        "max_collection_size": 40,
        "min_retention": 3600,
        "min_version_size": 4,
        "max_shrink_percent": 50,
        "guard_action": "keep",
        "created_at": {"time": "2026-11-20T02:00:00+00:00"},
        "last_number": 7,
        "versions_count": 3,
        "stored_size": 30,
        "unknown_to_this_version": 1,
    }

    made = CollectionRecord.of(collection_from(copy))

    assert Limits(versions=5, version_size=10, total_size=40) == made.limits
    expected = {"min_retention": timedelta(hours=1), "min_version_size": 4, "max_shrink_percent": 50, "action": "mark"}
    assert Guards(**expected) == made.guards
    assert ("keep", {"last": 3}, "dump.sql", 7, 0) == (
        made.strategy,
        made.strategy_options,
        made.filename,
        made.last_number,
        made.versions_count,
    )
