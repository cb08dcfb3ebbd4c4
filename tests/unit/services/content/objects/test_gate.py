"""Each deletion of the bytes of a content goes through the gate, which keeps what anything needs."""

import ast

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import Installation, StoredObject
from frepo_core.errors import BlobRetained, StorageUnavailable
from frepo_core.services.content.storages.kept_blobs import RECONCILE
from frepo_core.testing import Fail
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs
from support.paths import ROOT

CORE = ROOT / "frepo_core/src/frepo_core"
# Where else a storage's `delete` is called, and for what.
ALLOWED = {
    "services/content/objects/gate.py: end": "the gate",
    "services/content/objects/unnamed_bytes.py: delete_unnamed": "a key that no row has",
    "services/content/storages/guarded_storage.py: delete": "passes it on",
    "services/content/storages/second_names.py: require_two_places": "a probe",
    "services/content/storages/sweep_guard.py: adopt": "a mark",
    "services/content/storages/sweep_guard.py: confirm": "a mark",
    "features/lock_proof/lock_proof.py: _tidied": "a probe, which no content has",
    "services/upkeep/storage/sweep.py: _delete": "the journal",
}


@pytest.fixture
def blobs(services):
    return StoredBlobs(services)


@pytest.fixture
def rows(services):
    def rows():
        with services.database.reading() as session:
            return session.scalars(select(StoredObject).order_by(StoredObject.id)).all()

    return rows


def test_a_storage_deletes_nothing_elsewhere():
    found = set()
    for path in sorted(CORE.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef) and "testing" not in path.parts:
                found |= {f"{path.relative_to(CORE)}: {function.name}" for node in ast.walk(function) if _deletes(node)}

    assert set(ALLOWED) == found


def _deletes(node):
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "delete"):
        return False
    receiver = ast.unparse(node.func.value)
    return any(name in receiver for name in ("backend", "storage"))


def test_the_only_object_of_a_used_content_stays(services, upload, rows, keys):
    upload(b"used")

    for state in ("present", "damaged", "missing", "superseded"):
        services.database.write(lambda session, state=state: session.execute(update(StoredObject).values(state=state)))
        assert 0 == services.blobs.gate.delete([rows()[0].id]).objects

    assert 1 == len(keys())


def test_what_others_need_as_their_base_stays_as_long_as_they(services, make_collection, push, blobs, keys):
    collection, contents = make_collection(), list(nights(2, 500))
    for content in contents:
        push(collection, content)
    blobs.encode(*contents)
    base = blobs.row(contents[1])

    assert 0 == services.blobs.gate.delete([base.id]).objects
    blobs.end_superseded()
    assert 0 == services.blobs.gate.delete([base.id]).objects
    assert 2 == len(keys())


def test_nothing_is_deleted_before_all_storages_were_reconciled(services, upload, sender, rows, keys):
    added = upload(b"a")
    frozen = Installation(name=RECONCILE + services.backends.current, value=utc_now().isoformat())
    services.database.write(lambda session: session.add(frozen))

    services.files.delete(added.file.stored_name, "", by=sender)

    assert ["present"] == [row.state for row in rows()]
    assert 0 == services.blobs.gate.delete([rows()[0].id]).objects
    assert 1 == len(keys())


@pytest.mark.parametrize("error", [StorageUnavailable, BlobRetained])
def test_what_is_doomed_is_deleted_again_and_never_used(
    services, upload, push, make_collection, sender, wrap, keys, error
):
    added = upload(b"a")
    storage = wrap(Fail("delete", error=lambda: error("not now")))
    services.files.delete(added.file.stored_name, "", by=sender)
    [doomed] = keys()

    push(make_collection(), b"a")

    assert 2 == len(keys())
    services.database.write(lambda session: session.execute(update(StoredObject).values(delete_after=None)))
    assert 1 == services.blobs.gate.delete_due(services.backends.current).objects
    assert doomed not in keys()
    assert storage.calls["delete"] == 2
