"""Each change of a collection, a version or a file writes its events, and nothing else does."""

import hashlib
from datetime import timedelta

import pytest
from sqlalchemy.exc import OperationalError

from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.errors import FrepoError
from frepo_core.plugins.subscriber import OLD_KEYS
from frepo_core.services.backups.rows.collection_change import CollectionChange

SHA256 = hashlib.sha256(b"hello").hexdigest()


CONTENT = {"size": 5, "sha256": SHA256, "type": "text/plain"}


@pytest.fixture
def collection(make_collection, kinds):
    collection = make_collection()
    kinds()
    return collection


def edit(services, collection, by, **more):
    return services.collections.edit(collection, CollectionChange(limits={}, **more), by=by)


def test_a_new_collection_and_its_creators_access(services, sender, events):
    events()
    made = services.collections.create(CollectionChange(limits={COUNT: 3}, filename="a.sql"), by=sender)

    created, granted = events()
    assert ("collection.created", made.id, sender.fingerprint) == (created.kind, created.collection_id, created.actor)
    after = created.data["after"]
    assert ("a.sql", 3) == (after["filename"], after["maxBackupsCount"])
    assert set() == {OLD_KEYS[name] for name in after if name in OLD_KEYS} - after.keys()
    assert ("collection.access_granted", made.id, sender.fingerprint) == (
        granted.kind,
        granted.collection_id,
        granted.token,
    )


def test_a_collection_of_the_console_lists_no_token(services, kinds):
    services.collections.create(CollectionChange(limits={}, filename="a.sql"), by=None)

    assert ["collection.created"] == kinds()


def test_an_edit_has_the_changed_values_before_and_after(services, sender, collection, events):
    guards = {"min_retention": timedelta(days=2)}
    edit(services, collection, sender, guards=guards, description="new", password="first-5ecre7")
    edit(services, collection, sender, password="other-5ecre7")
    edit(services, collection, sender, password="")

    first, second, third = events()
    before = {"min_retention": "PT0S", "minRetention": "0:00:00", "password": "none"}
    after = {"min_retention": "P2D", "minRetention": "2 days, 0:00:00", "password": "set"}
    assert {"description": ""} | before == first.data["before"]
    assert {"description": "new"} | after == first.data["after"]
    assert {"before": {"password": "set"}, "after": {"password": "replaced"}} == second.data
    assert {"before": {"password": "set"}, "after": {"password": "removed"}} == third.data


def test_an_edit_that_changes_nothing_is_no_event(services, sender, collection, kinds):
    edit(services, collection, sender, description="")

    assert [] == kinds()


def test_a_deleted_collection_has_its_last_values(services, sender, collection, events):
    services.collections.delete(collection, by=sender)

    (event,) = events()
    assert ("collection.deleted", "dump.sql") == (event.kind, event.data["before"]["filename"])


def test_access_is_granted_and_revoked_once(services, identify, sender, collection, events):
    token = identify(Role.UPLOAD_ALL)
    events()
    for _ in range(2):
        services.token_lists.allow(collection, token.token, by=sender)
    for _ in range(2):
        services.token_lists.disallow(collection, token.token, by=sender)

    expected = [(f"collection.access_{kind}", collection, token.fingerprint) for kind in ("granted", "revoked")]
    assert expected == [(event.kind, event.collection_id, event.token) for event in events()]


def test_a_version_and_the_one_that_it_replaces(services, sender, make_collection, push, events):
    collection = make_collection(1)
    push(collection, b"hello")
    events()
    added = push(collection, b"other").version

    old, new = events()
    assert ("version.evicted", collection, 1) == (old.kind, old.collection_id, old.version_number)
    assert CONTENT | {"name": f"{SHA256[:10]}dump-v1.sql", "replaced_by": 2} == {
        name: value for name, value in old.data.items() if name != "ends_at"
    }
    assert ("version.added", 2, added.file.id) == (new.kind, new.version_number, new.file_id)
    assert (sender.fingerprint, "127.0.0.1") == (new.actor, new.address)
    assert added.file.stored_name == new.data["name"]


def test_a_suspicious_version(make_collection, push, events):
    collection = make_collection(guards={"min_version_size": 9, "action": "mark"})
    events()
    push(collection, b"hello")

    added, suspicious = events()
    assert ("version.added", "version.suspicious", 1) == (added.kind, suspicious.kind, suspicious.version_number)
    assert "new_version_is_smaller_than_the_minimum" == suspicious.data["reason"]


def test_a_deleted_version(services, sender, collection, push, events):
    push(collection, b"hello")
    events()
    services.versions.delete(collection, "v1", by=sender)

    (event,) = events()
    assert ("version.deleted", collection, 1) == (event.kind, event.collection_id, event.version_number)
    assert event.data.pop("ends_at") == services.trash.find(collection, 1).ends_at.isoformat()
    assert CONTENT | {"name": f"{SHA256[:10]}dump-v1.sql"} == event.data


def test_a_file_is_added_once(sender, upload, events):
    events()
    file = upload(b"hello", tags=["a"], password="x-5ecre7").file
    upload(b"hello", password="x-5ecre7")

    (event,) = events()
    assert ("file.added", file.id, sender.fingerprint) == (event.kind, event.file_id, event.actor)
    assert CONTENT | {"name": file.stored_name, "tags": ["a"], "public": False, "has_password": True} == event.data


def test_an_overwritten_file_has_the_changed_values(upload, events):
    upload(b"hello", tags=["a"])
    events()
    upload(b"hello", tags=["a"], public=True, overwrite=True)
    upload(b"hello", tags=["a"], public=True, overwrite=True)

    (event,) = events()
    assert ("file.edited", {"public": False}, {"public": True}) == (
        event.kind,
        event.data["before"],
        event.data["after"],
    )


def test_a_deleted_file(services, sender, upload, events):
    file = upload(b"hello").file
    events()
    services.files.delete(file.stored_name, "", by=sender)

    (event,) = events()
    assert ("file.deleted", file.id, file.stored_name) == (event.kind, event.file_id, event.data["name"])


REFUSED = {
    "an edit": lambda services, by, collection: edit(services, collection, by, strategy="unknown"),
    "a collection": lambda services, by, collection: services.collections.create(
        CollectionChange(limits={}, filename="a.sql", id=collection), by=by
    ),
    "access": lambda services, by, collection: services.token_lists.allow(collection, "x" * 64, by=by),
    "a deleted version": lambda services, by, collection: services.versions.delete(collection, "v9", by=by),
    "a deleted file": lambda services, by, collection: services.files.delete("none.txt", "", by=by),
    "a revoked token": lambda services, by, collection: services.tokens.revoke("no-uuid", by=by),
}


def test_a_refused_change_is_no_event(services, sender, collection, kinds):
    for name, change in REFUSED.items():
        with pytest.raises(FrepoError):
            change(services, sender, collection)

        assert [] == kinds(), name


SIMULATED = {
    "create": lambda services, by, collection: services.collections.create(
        CollectionChange(limits={}, filename="a.sql"), by=by, simulate=True
    ),
    "edit": lambda services, by, collection: services.collections.edit(
        collection, CollectionChange(limits={}, description="new"), by=by, simulate=True
    ),
    "delete": lambda services, by, collection: services.collections.delete(collection, by=by, simulate=True),
    "disallow": lambda services, by, collection: services.token_lists.disallow(
        collection, by.token, by=by, simulate=True
    ),
}


def test_a_simulated_change_is_no_event(services, sender, collection, kinds):
    for name, change in SIMULATED.items():
        change(services, sender, collection)

        assert [] == kinds(), name


@pytest.mark.databases
def test_a_transaction_that_is_tried_again_writes_its_events_once(services, push, make_collection, at_commit, kinds):
    collection = make_collection(1)
    push(collection, b"hello")
    kinds()

    def conflict(connection):
        raise OperationalError("", {}, _Conflict())

    at_commit(conflict)
    push(collection, b"other")

    assert ["version.evicted", "version.added"] == kinds()


class _Conflict(Exception):
    sqlstate = "40001"
