"""The memory storage meets the storage contract."""

import pytest

from frepo_core.testing import Fail, FaultyStorage, MemoryStorage, StorageContract

METHODS = ["store", "open", "delete", "stat", "list", "check"]


class TestMemoryStorage(StorageContract):
    @pytest.fixture
    def backend(self):
        return MemoryStorage()

    @pytest.fixture
    def unavailable_backend(self):
        return FaultyStorage(MemoryStorage(), *(Fail(method, nth=0) for method in METHODS))

    @pytest.fixture
    def driver_errors(self):
        return (KeyError, MemoryError, ConnectionError)

    @pytest.fixture
    def full_backend(self):
        return MemoryStorage(capacity=1000)

    @pytest.fixture
    def list_size(self):
        return 300

    @pytest.fixture
    def large_size(self):
        return 2 << 20
