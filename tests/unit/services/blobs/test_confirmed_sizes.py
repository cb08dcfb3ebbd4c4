"""The size of what was stored is compared, as the storage has confirmed it or as it says when it is asked."""

import pytest

from frepo_core.errors import StorageUnavailable
from frepo_core.plugins import StoredBlob
from frepo_core.services.blobs.guarded_storage import GuardedStorage
from frepo_core.testing import FaultyStorage


class Confirming(FaultyStorage):
    """Returns what the test says from `store`."""

    answer = None

    def store(self, key, content, size):
        super().store(key, content, size)
        return self.answer


@pytest.fixture
def confirming(storages, storage):
    def confirming(answer):
        faulty = Confirming(storage)
        faulty.answer = answer
        storages._built[storages.current] = GuardedStorage(faulty, "the package acme")
        return faulty

    return confirming


def test_a_storage_that_has_confirmed_the_size_is_not_asked(confirming, upload):
    storage = confirming(StoredBlob(size=5))

    upload(b"hello")

    assert 0 == storage.calls["stat"]


@pytest.mark.parametrize("answer", [None, 3, "stored", True])
def test_any_other_answer_confirms_nothing(confirming, upload, answer):
    storage = confirming(answer)

    upload(b"hello")

    assert 1 == storage.calls["stat"]


def test_another_size_fails_the_upload_and_leaves_nothing(confirming, upload, keys):
    confirming(StoredBlob(size=4))

    with pytest.raises(StorageUnavailable, match="kept 4 of 5 bytes"):
        upload(b"hello")

    assert [] == keys()
