"""The faulty storage fails as ordered, and meets the storage contract otherwise."""

import threading
from io import BytesIO

import pytest

from frepo_core.plugins import BlobNotFound, StorageFull, StorageUnavailable
from frepo_core.testing import Fail, FaultyStorage, MemoryStorage, Source, Stall, StorageContract, Truncate, pattern


class TestFaultyStorageWithoutFaults(StorageContract):
    @pytest.fixture
    def backend(self):
        return FaultyStorage(MemoryStorage())

    @pytest.fixture
    def unavailable_backend(self):
        faults = (Fail(method, nth=0) for method in ("store", "open", "delete", "stat", "list", "check"))
        return FaultyStorage(MemoryStorage(), *faults)

    @pytest.fixture
    def driver_errors(self):
        return (KeyError, MemoryError, ConnectionError)

    @pytest.fixture
    def full_backend(self):
        return FaultyStorage(MemoryStorage(capacity=1000))

    @pytest.fixture
    def large_size(self):
        return 2 << 20

    @pytest.fixture
    def list_size(self):
        return 100


def faulty(*faults) -> FaultyStorage:
    inner = MemoryStorage()
    inner.store("key", Source(1000).file, 1000)
    return FaultyStorage(inner, *faults)


def test_only_the_nth_call_fails():
    backend = faulty(Fail("stat", nth=2))
    backend.stat("key")

    with pytest.raises(StorageUnavailable):
        backend.stat("key")

    assert backend.stat("key").size == 1000


def test_a_failure_raises_the_given_error():
    backend = faulty(Fail("store", error=lambda: StorageFull("no room")))

    with pytest.raises(StorageFull, match="no room"):
        backend.store("new", BytesIO(b"1"), 1)


def test_a_store_that_fails_half_way_has_read_half_and_keeps_nothing():
    source = Source(1000)
    backend = faulty(Fail("store", after=500))

    with pytest.raises(StorageUnavailable):
        backend.store("new", source.file, 1000)

    assert source.position == 500
    with pytest.raises(BlobNotFound):
        backend.stat("new")


def test_a_reader_that_fails_half_way_has_given_half():
    blob = faulty(Fail("open", after=500)).open("key")

    assert pattern(0, 500) == blob.read(1000)
    with pytest.raises(StorageUnavailable):
        blob.read(1000)


def test_a_truncated_store_loses_the_rest_in_silence():
    backend = faulty(Truncate("store", after=300))

    backend.store("new", Source(1000).file, 1000)

    assert pattern(0, 300) == backend.open("new").read()


def test_a_truncated_reader_ends_early_in_silence():
    with faulty(Truncate("open", after=300)).open("key") as blob:
        assert pattern(0, 300) == blob.read()


def test_a_stalled_call_continues_when_it_is_released():
    stall = Stall("stat")
    backend = faulty(stall)
    found = []
    caller = threading.Thread(target=lambda: found.append(backend.stat("key").size))
    caller.start()
    assert stall.reached.wait(60)
    assert found == []

    stall.release.set()
    caller.join(60)

    assert found == [1000]


def test_a_stalled_reader_stalls_after_the_bytes_it_was_told():
    stall = Stall("open", after=10, seconds=0)
    blob = faulty(stall).open("key")

    first = (blob.read(1000), stall.reached.is_set())

    assert (pattern(0, 10), False) == first
    assert pattern(10, 990) == blob.read(1000)
    assert stall.reached.is_set()


def test_calls_are_counted():
    backend = faulty()
    backend.stat("key")
    backend.check()

    assert {"stat": 1, "check": 1, "store": 1, "open": 1, "delete": 1} == dict(backend.calls)
