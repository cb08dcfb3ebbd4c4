"""The storage `sealed` meets the storage contract, over a storage in memory and over a local one."""

import resource

import pytest

from frepo_core.testing import Fail, FaultyStorage, MemoryStorage, StorageContract
from frepo_sealed.backend import SealedStorage
from frepo_sealed.keys import KeyRing
from frepo_storage_local import LocalSettings, LocalStorage
from support.scale import IS_BIG

# It has no pages of its own: listing many files is tested without the encryption.
LIST_SIZE = 5000 if IS_BIG else 500
KEYS = KeyRing([bytes(range(32)), bytes(32)])


def sealed(below, keys=KEYS):
    return SealedStorage(below, keys, key_file="sealed.keys")


class TestOverMemory(StorageContract):
    @pytest.fixture
    def list_size(self):
        return LIST_SIZE

    @pytest.fixture
    def backend(self):
        return sealed(MemoryStorage())

    @pytest.fixture
    def unavailable_backend(self):
        methods = ("store", "open", "delete", "stat", "list")
        return sealed(FaultyStorage(MemoryStorage(), *(Fail(method, nth=0) for method in methods)))

    @pytest.fixture
    def full_backend(self):
        return sealed(MemoryStorage(32 << 10))

    @pytest.fixture
    def retaining_backend(self):
        return sealed(MemoryStorage(retains=True))

    @pytest.fixture
    def driver_errors(self):
        return (ConnectionError, ValueError, KeyError, MemoryError)

    @pytest.fixture
    def large_size(self):
        return 2 << 20  # the memory storage holds all of it


class TestOverLocal(StorageContract):
    @pytest.fixture
    def backend(self, tmp_path):
        return sealed(LocalStorage(LocalSettings(directory=tmp_path)))

    @pytest.fixture
    def unavailable_backend(self, tmp_path):
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        return sealed(LocalStorage(LocalSettings(directory=tmp_path / "loop")))

    @pytest.fixture
    def full_backend(self, tmp_path):
        """Files may not grow beyond 32 KiB."""
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 10, before[1]))
        yield sealed(LocalStorage(LocalSettings(directory=tmp_path)))
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    @pytest.fixture
    def driver_errors(self):
        return (OSError,)

    @pytest.fixture
    def list_size(self):
        return LIST_SIZE
