"""The storage contract, part 4: storages that can keep blobs from deletion until a time."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.plugins import BlobNotFound, BlobRetained, StorageBackend

from ._storage_fixtures import KEY, StorageFixtures, put

CONTENT = b"of a locked version"
SHORT = timedelta(seconds=2)


def _until(length: timedelta) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) + length


class RetentionContract(StorageFixtures):
    """Retaining blobs."""

    def test_a_storage_says_whether_it_retains(self, backend: StorageBackend) -> None:
        """The answer is False if it cannot, or is not set up for it: then the blob can be deleted."""
        put(backend, KEY, CONTENT)

        if not backend.retain(KEY, _until(SHORT)):
            backend.delete(KEY)
            assert [] == list(backend.list())

    def test_a_retained_blob_is_deleted_after_its_time_and_not_before(self, retaining_backend: StorageBackend) -> None:
        """A shorter time changes nothing, a longer one extends it. The blob can be read."""
        put(retaining_backend, KEY, CONTENT)
        first, last = _until(SHORT), _until(2 * SHORT)
        for until in (first, last, first):
            assert retaining_backend.retain(KEY, until)
        while (now := datetime.now(UTC)) < last - timedelta(seconds=1):
            with pytest.raises(BlobRetained) as refused:
                retaining_backend.delete(KEY)
            assert refused.value.until is None or refused.value.until >= now
            with retaining_backend.open(KEY) as blob:
                assert CONTENT == blob.read()
            assert [KEY] == [stat.key for stat in retaining_backend.list()]
            time.sleep(0.5)
        time.sleep(max(0.0, (last - datetime.now(UTC)).total_seconds() + 1))

        retaining_backend.delete(KEY)

        assert [] == list(retaining_backend.list())

    def test_nothing_breaks_a_retention(self, retaining_backend: StorageBackend) -> None:
        """Whatever is tried, the storage refuses it, and the blob can be deleted after its time."""
        put(retaining_backend, KEY, CONTENT)
        until = _until(3 * SHORT)
        retaining_backend.retain(KEY, until)

        assert [] == list(retaining_backend.break_retention(KEY))

        assert isinstance(retaining_backend.server(), str)
        time.sleep(max(0.0, (until - datetime.now(UTC)).total_seconds() + 1))
        retaining_backend.delete(KEY)
        assert [] == list(retaining_backend.list())

    def test_a_blob_that_does_not_exist_is_not_retained(self, retaining_backend: StorageBackend) -> None:
        """The error is that of reading it."""
        with pytest.raises(BlobNotFound):
            retaining_backend.retain(KEY, _until(SHORT))

    def test_a_probe_and_other_blobs_are_not_retained(self, retaining_backend: StorageBackend) -> None:
        """Only what is retained stays."""
        retaining_backend.check()
        put(retaining_backend, KEY, CONTENT)
        retaining_backend.delete(KEY)

        assert [] == list(retaining_backend.list())
