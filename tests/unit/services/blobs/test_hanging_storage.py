"""A storage that hangs: an upload waits for progress, then it is a 503, and nothing is evicted or left behind."""

import pytest

from frepo_core.errors import StorageUnavailable
from frepo_core.services.blobs import patience
from frepo_core.services.blobs.ownership import Ownership
from frepo_core.services.plugin_threads import MAX_HANGING
from frepo_core.testing.faulty import Stall
from support.reliability.invariants import eventually


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(patience, "SILENCE", 0.05)
    monkeypatch.setattr(patience, "LOOK_SECONDS", 0.02)


@pytest.mark.parametrize("method", ["store", "path", "stat"])
def test_an_upload_does_not_wait_for_a_storage_that_hangs(
    impatient, wrap, make_collection, push, numbers, keys, services, method
):
    Ownership(services.database, services.backends).claim("local")
    collection = make_collection(1)
    push(collection, b"one")
    before = keys()
    stall = Stall(method, nth=0)
    wrap(stall)

    with pytest.raises(StorageUnavailable, match="The storage 'local' hangs"):
        push(collection, b"two")
    stall.release.set()

    assert [1] == numbers(collection)
    assert eventually(lambda: keys() == before)
    push(collection, b"two")
    assert [2] == numbers(collection)


def test_a_storage_that_hangs_takes_few_threads(impatient, wrap, upload):
    stall = Stall("store", nth=0)
    faulty = wrap(stall)
    for number in range(MAX_HANGING + 2):
        with pytest.raises(StorageUnavailable, match="earlier uploads still wait for it"):
            upload(b"%d" % number)

    assert MAX_HANGING == faulty.calls["store"]
    stall.release.set()
    assert eventually(lambda: works(upload))


def works(upload):
    try:
        upload(b"again")
    except StorageUnavailable:
        return False
    return True
