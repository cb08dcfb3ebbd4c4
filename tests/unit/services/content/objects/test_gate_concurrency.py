"""Two deletions at once do not each rely on what the other one deletes."""

import threading
from contextlib import suppress
from io import BytesIO

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.services.content.objects import gate
from frepo_core.services.content.objects.decodable import is_decodable
from frepo_core.services.content.objects.necessity import may_end
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs, sha256

pytestmark = pytest.mark.databases("postgresql")  # SQLite has one writer


@pytest.fixture
def circle(services, make_collection, push):
    """Return the raw objects of two contents, which two differences have replaced, each to the other content."""
    blobs, collection, contents = StoredBlobs(services), make_collection(), list(nights(2, 500))
    for content in contents:
        push(collection, content)
    raw = [blobs.row(content) for content in contents]
    new = []
    for one, base in (raw, reversed(raw)):
        target, key = BytesIO(), new_blob_key(one.digest)
        head = blobs.write_object(one, base, target)
        services.backends.get("local").store(key, BytesIO(target.getvalue()), head.stored)
        about = {"stored_size": head.stored, "stored_digest": sha256(target.getvalue()), "base_digest": base.digest}
        place = {"digest": one.digest, "size": one.size, "storage": "local", "key": key, "encoding": "delta"}
        times = {"since": utc_now(), "stored_at": utc_now()}
        new.append(StoredObject(content_id=one.content_id, state="present", slot=1, **place, **about, **times))

    def replace(session):
        old = update(StoredObject).where(StoredObject.id.in_([one.id for one in raw]))
        session.execute(old.values(state="superseded", slot=None, delete_after=utc_now()))
        session.add_all(new)

    services.database.write(replace)
    return [one.id for one in raw], [sha256(content) for content in contents]


@pytest.fixture
def delete_at_once(services, circle, at_once, monkeypatch):
    """Delete both raw objects in two transactions at once; return of which contents is something left."""
    objects, digests = circle
    note_doomed, decided = gate.note_doomed, threading.Barrier(2)

    def note_late(session, row):
        with suppress(threading.BrokenBarrierError):
            decided.wait(3)  # until both have decided, if the database lets them
        return note_doomed(session, row)

    def delete_at_once():
        monkeypatch.setattr(gate, "note_doomed", note_late)
        at_once(lambda object_id: services.blobs.gate.delete([object_id]), objects)
        with services.database.reading() as session:
            return [is_decodable(session, digest, "local") for digest in digests]

    return delete_at_once


def test_two_raw_objects_that_rely_on_each_other_are_not_deleted_at_once(delete_at_once):
    assert [True, True] == delete_at_once()


def test_without_locks_on_what_they_rely_on_they_would_be(delete_at_once, monkeypatch):
    def doom_without_locks(session, backends, object_id, relied):
        row = session.get(StoredObject, object_id)
        return gate.note_doomed(session, row) if may_end(session, backends, row, relied) else None

    monkeypatch.setattr(gate, "doom", doom_without_locks)

    assert [False, False] == delete_at_once()
