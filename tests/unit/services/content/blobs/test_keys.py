"""Every stored content has a separate key; an undo deletes only that key; equal contents share one blob."""

import hashlib
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import StorageUnavailable
from frepo_core.plugins import StorageBackend
from frepo_core.testing import Fail, Stall


class Meeting(StorageBackend):
    """A storage in which the first `parties` stores wait for each other before they write."""

    def __init__(self, inner, parties):
        self.inner = inner
        self.barrier = threading.Barrier(parties)
        self.stored = []

    def store(self, key, content, size):
        self.barrier.wait(60)
        self.inner.store(key, content, size)
        self.stored.append(key)

    def open(self, key, start=0, length=None):
        return self.inner.open(key, start, length)

    def delete(self, key):
        self.inner.delete(key)

    def stat(self, key):
        return self.inner.stat(key)

    def list(self):
        return self.inner.list()


@pytest.fixture
def meeting(storages, storage):
    def meeting(parties):
        storages._built[storages.current] = Meeting(storage, parties)
        return storages._built[storages.current]

    return meeting


def test_a_key_contains_the_digest(upload, keys):
    upload(b"hello")
    digest = hashlib.sha256(b"hello").hexdigest()

    assert re.fullmatch(rf"{digest[:2]}/{digest}-[0-9a-f]{{16}}", keys()[0])


def test_storing_one_content_twice_uses_two_keys():
    assert new_blob_key("ab" * 32) != new_blob_key("ab" * 32)


def test_many_concurrent_uploads_of_one_content_share_one_blob(meeting, upload, at_once, keys, blob_keys):
    meeting(8)
    added = at_once(lambda number: upload(b"same", name=f"{number}.txt", password=f"{number}-5ecre7"), range(8))

    assert (8, 1, blob_keys()) == (len({one.file.id for one in added}), len(keys()), keys())


def test_an_undo_does_not_delete_the_same_content_of_another_upload(
    wrap, make_collection, push, at_statement, keys, blob_keys
):
    """One upload of the content fails in its transaction after another one was committed."""
    first, second = make_collection(), make_collection()
    stall = Stall("store")
    wrap(stall, Fail("stat", nth=2))
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(push, first, b"same")
        assert stall.reached.wait(60)
        push(second, b"same")
        stall.release.set()
        with pytest.raises(StorageUnavailable):
            slow.result()

    assert (1, blob_keys()) == (len(keys()), keys())


def test_the_second_upload_adopts_the_blob_of_the_first(wrap, make_collection, push, keys):
    first, second = make_collection(), make_collection()
    stall = Stall("store")
    wrap(stall)
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(push, first, b"same")
        assert stall.reached.wait(60)
        push(second, b"same")
        kept = keys()
        stall.release.set()
        slow.result()

    assert kept == keys()


def test_different_contents_do_not_share(upload, keys):
    upload(b"hello")
    upload(b"hallo")

    assert 2 == len(keys())
