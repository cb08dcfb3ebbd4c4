"""A storage that hangs: an upload waits for progress, then it is a 503, and nothing is evicted or left behind."""

import os
from io import BytesIO

import pytest

from frepo_core.errors import StorageUnavailable
from frepo_core.services.base.plugin_deadlines import MAX_HANGING
from frepo_core.services.content.blobs.blob_write import BlobVanishedError, BlobWrite
from frepo_core.services.content.storages import storage_deadlines
from frepo_core.services.content.storages.storage_deadlines import WatchedContent
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.testing.faulty import Stall
from support.reliability.invariants import eventually


def be_impatient(patch):
    patch.setattr(storage_deadlines, "SILENCE", 0.05)
    patch.setattr(storage_deadlines, "LOOK_SECONDS", 0.02)


@pytest.mark.parametrize("method", ["store", "path", "stat"])
def test_an_upload_does_not_wait_for_a_storage_that_hangs(
    monkeypatch, wrap, make_collection, push, numbers, keys, services, method
):
    Ownership(services.database, services.backends).claim("local")
    collection = make_collection(1)
    push(collection, b"one")
    before = keys()
    services.presence.forget("local")  # or else the path of its mark is known
    stall = Stall(method, nth=0)
    wrap(stall)

    # Only now: on a busy machine, a storage that works may take longer.
    with monkeypatch.context() as patch, pytest.raises(StorageUnavailable, match="The storage 'local' hangs"):
        be_impatient(patch)
        push(collection, b"two")
    stall.release.set()

    assert [1] == numbers(collection)
    assert eventually(lambda: keys() == before)
    push(collection, b"two")
    assert [2] == numbers(collection)


def test_a_storage_that_hangs_takes_few_threads(monkeypatch, wrap, upload):
    stall = Stall("store", nth=0)
    faulty = wrap(stall)
    with monkeypatch.context() as patch:
        be_impatient(patch)
        for number in range(MAX_HANGING + 2):
            with pytest.raises(StorageUnavailable, match="earlier uploads still wait for it"):
                upload(b"%d" % number)

    assert MAX_HANGING == faulty.calls["store"]
    stall.release.set()
    assert eventually(lambda: works(upload))


def open_files():
    links = (f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd"))
    return sorted(os.readlink(link) for link in links if os.path.lexists(link))


def test_an_upload_that_is_refused_while_it_stores_again_leaves_nothing(services, upload, keys, monkeypatch):
    """Its bytes seem to be swept before its commit, and too many others wait for the storage by then."""

    def vanish(_):
        monkeypatch.setattr(services.blobs.storing_threads._threads, "_hanging", MAX_HANGING)
        raise BlobVanishedError

    upload(b"another one")  # opens what stays open
    monkeypatch.setattr(BlobWrite, "check_not_swept", vanish)
    before = keys(), open_files()

    with pytest.raises(StorageUnavailable, match="earlier uploads still wait for it"):
        upload(b"one")

    assert before == (keys(), open_files())


def test_a_storage_that_ends_while_its_upload_gives_up_has_nothing_to_tidy():
    content = WatchedContent(BytesIO(b"one"), 3)
    content.start()

    assert not content.has_ended()
    content.give_up()
    assert not content.is_given_up  # the request tidies up

    content.start()
    content.give_up()
    assert content.has_ended()


def works(upload):
    try:
        upload(b"again")
    except StorageUnavailable:
        return False
    return True
