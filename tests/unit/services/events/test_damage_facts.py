"""Damage to stored bytes is an event when it begins and when it ends, and names what uses the bytes."""

import hashlib

import pytest
from sqlalchemy import update

from frepo_core.db.models import StoredObject
from frepo_core.features.moves.migration import Migrator
from frepo_core.services.upkeep.storage import verify
from frepo_core.testing import MemoryStorage

SHA256 = hashlib.sha256(b"hello").hexdigest()


@pytest.fixture
def collection(make_collection, kinds):
    collection = make_collection()
    kinds()
    return collection


def test_damage_is_an_event_when_it_begins_and_when_it_ends(services, storage, push, upload, collection, events):
    push(collection, b"hello")
    key = next(iter(storage.list())).key
    path = storage.path(key)
    path.chmod(0o600)
    events()
    path.write_bytes(b"jello")
    for _ in range(2):
        verify(services.database, services.backends)
    path.write_bytes(b"hello")
    for _ in range(2):
        verify(services.database, services.backends)

    damaged, healed = events()
    about = {"storage": "local", "key": key, "size": 5, "sha256": SHA256}
    assert ("blob.damaged", collection, 1) == (damaged.kind, damaged.collection_id, damaged.version_number)
    assert about == {name: damaged.data[name] for name in about}
    assert "blob.healed" == healed.kind
    assert about == {name: healed.data[name] for name in about}


def test_damage_names_the_files_that_use_the_bytes(services, storage, push, upload, collection, events):
    push(collection, b"hello")
    file = upload(b"hello").file
    storage.path(next(iter(storage.list())).key).unlink()
    events()
    verify(services.database, services.backends)

    (event,) = events()
    version, plain = event.data["used_by"]
    assert (collection, 1, file.id, 2) == (
        version["collection_id"],
        version["version_number"],
        plain["file_id"],
        event.data["used_by_count"],
    )
    assert (None, None) == (event.collection_id, event.file_id)


def test_an_upload_that_heals_unknown_damage_reports_both(storage, push, make_collection, sender, events):
    first, second = make_collection(), make_collection()
    push(first, b"hello")
    storage.path(next(iter(storage.list())).key).unlink()
    events()
    push(second, b"hello")

    damaged, healed, added = events()
    assert ("blob.damaged", "blob.healed", "version.added") == (damaged.kind, healed.kind, added.kind)
    assert damaged.data["key"] != healed.data["key"]
    assert sender.fingerprint == healed.actor


def test_a_damaged_mark_that_a_migration_removes_is_healed(services, push, collection, events):
    push(collection, b"hello")
    services.database.write(
        lambda session: session.execute(update(StoredObject).values(state="damaged", since=StoredObject.stored_at))
    )
    services.backends._built["memory"] = MemoryStorage()
    events()
    Migrator(services.database, services.backends, source="local", target="memory").run()

    (event,) = events()
    assert ("blob.healed", "memory") == (event.kind, event.data["storage"])
