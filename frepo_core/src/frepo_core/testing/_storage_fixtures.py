"""Fixtures of the storage contract: the backend under test, its capabilities and limits."""

from io import BytesIO

import pytest

from frepo_core.plugins import StorageBackend

KEY = "5d/5d41402abc4b2a76b9719d911017c592-0a1b2c3d"


def put(backend: StorageBackend, key: str, content: bytes) -> None:
    """Store a content that is held anyway."""
    backend.store(key, BytesIO(content), len(content))


class StorageFixtures:
    """The parameters. Override the first three, and the others if the default is wrong for the backend."""

    @pytest.fixture
    def backend(self) -> StorageBackend:
        """Build the backend; it holds no blob yet."""
        raise NotImplementedError("Override the fixture `backend` of the storage contract")

    @pytest.fixture
    def unavailable_backend(self) -> StorageBackend:
        """Build a backend whose storage does not answer, e.g. at a closed port."""
        raise NotImplementedError("Override the fixture `unavailable_backend` of the storage contract")

    @pytest.fixture
    def driver_errors(self) -> tuple[type[BaseException], ...]:
        """Name the exceptions of the driver: one of them is the cause of each error."""
        raise NotImplementedError("Override the fixture `driver_errors` of the storage contract")

    @pytest.fixture
    def full_backend(self) -> StorageBackend:
        """Build a backend that has no room for another 64 KiB."""
        pytest.skip("these tests have no full storage: override the fixture `full_backend`")

    @pytest.fixture
    def offers_url(self) -> bool:
        """Tell whether the backend makes URLs."""
        return False

    @pytest.fixture
    def offers_path(self) -> bool:
        """Tell whether the backend's blobs are local files."""
        return False

    @pytest.fixture
    def list_size(self) -> int:
        """Tell how many blobs are listed; lower it where storing one takes long."""
        return 5000

    @pytest.fixture
    def large_size(self) -> int:
        """Tell how many bytes the large blob has."""
        return 100 << 20

    @pytest.fixture
    def memory_limit(self) -> int:
        """Tell how many bytes of memory the large blob may take on its way."""
        return 16 << 20
