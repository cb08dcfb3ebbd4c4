"""Fixtures of the storage contract: the backend under test, its capabilities and limits."""

from collections.abc import Callable
from io import BytesIO

import pytest

from frepo_core.plugins import StorageBackend

KEY = "5d/5d41402abc4b2a76b9719d911017c592-0a1b2c3d"


def put(backend: StorageBackend, key: str, content: bytes) -> None:
    """Store bytes that are in memory."""
    backend.store(key, BytesIO(content), len(content))


def fails(error: type[Exception], call: Callable[..., object], *arguments: object) -> bool:
    """Return whether the call raises this error."""
    try:
        call(*arguments)
    except error:
        return True
    return False


class StorageFixtures:
    """The parameters of the contract. Override the first three, and others whose default does not fit the backend."""

    @pytest.fixture
    def backend(self) -> StorageBackend:
        """Return the backend, which contains no blobs."""
        raise NotImplementedError("Override the fixture `backend` of the storage contract")

    @pytest.fixture
    def unavailable_backend(self) -> StorageBackend:
        """Return a backend whose storage does not answer, e.g. at a closed port."""
        raise NotImplementedError("Override the fixture `unavailable_backend` of the storage contract")

    @pytest.fixture
    def driver_errors(self) -> tuple[type[BaseException], ...]:
        """Return the exceptions of the driver; one of them is the cause of each error."""
        raise NotImplementedError("Override the fixture `driver_errors` of the storage contract")

    @pytest.fixture
    def full_backend(self) -> StorageBackend:
        """Return a backend without space for another 64 KiB."""
        pytest.skip("these tests have no full storage: override the fixture `full_backend`")

    @pytest.fixture
    def retaining_backend(self) -> StorageBackend:
        """Return a backend without blobs that keeps blobs from deletion until a time."""
        pytest.skip("this storage retains no blobs: override the fixture `retaining_backend`")

    @pytest.fixture
    def offers_url(self) -> bool:
        """Return whether the backend makes URLs."""
        return False

    @pytest.fixture
    def offers_path(self) -> bool:
        """Return whether the backend's blobs are local files."""
        return False

    @pytest.fixture
    def list_size(self) -> int:
        """Return how many blobs the test of `list` stores; override it if storing one takes long."""
        return 5000

    @pytest.fixture
    def large_size(self) -> int:
        """Return the size of the large blob in bytes."""
        return 100 << 20

    @pytest.fixture
    def memory_limit(self) -> int:
        """Return how many bytes of memory the transfer of the large blob may use."""
        return 16 << 20
