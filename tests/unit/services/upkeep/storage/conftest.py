"""Fixtures: files, and the contents of the storage."""

from errno import EIO
from io import BytesIO

import pytest

from frepo_core.domain.roles import Role
from frepo_core.plugins import StorageSettings, StorageSpec
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import NewFile
from frepo_core.services.upkeep.storage import OwnerMark, Ownership
from frepo_core.testing import Fail, FaultyStorage, MemoryStorage


@pytest.fixture
def by(services, make_token):
    return services.tokens.look_up(make_token(Role.ADMINISTRATOR))


@pytest.fixture
def add(services, by):
    """Store a content, return the file."""

    def add(content: bytes, name: str = "a.txt"):
        return services.files.add(NewFile(name=name), Incoming(stream=BytesIO(content)), by=by).file

    return add


@pytest.fixture
def backend(services):
    return services.backends.get("local")


@pytest.fixture
def path_of(backend):
    """Return the path of the stored bytes of a file."""
    return lambda file: backend.path(file.blob.key)


@pytest.fixture
def keys(backend):
    """The keys of all files in the storage but the marks of owners."""
    return lambda: sorted(stat.key for stat in backend.list() if OwnerMark.parse(stat.key) is None)


@pytest.fixture
def memory(services):
    """A second storage, named `memory`, as if from a plug-in. It is marked as this database's."""
    storage = MemoryStorage()
    spec = StorageSpec(name="memory", settings=StorageSettings, build=lambda settings: storage)
    services.plugins.storages["memory"] = spec
    Ownership(services.database, services.backends).claim("memory")
    return storage


@pytest.fixture
def memory_keys(memory):
    """The keys of all blobs in the second storage."""
    return lambda: sorted(stat.key for stat in memory.list() if OwnerMark.parse(stat.key) is None)


@pytest.fixture
def spoil(services, backend):
    """Simulate a bad sector: reading one file's bytes fails, although they exist."""

    class BadSector(FaultyStorage):
        def open(self, key, start=0, length=None):
            content = super().open(key, start, length)
            return Fail("open", after=0, error=lambda: OSError(EIO, "bad")).wrap(content) if key in spoiled else content

    spoiled = []
    services.backends._built["local"] = BadSector(backend)
    return lambda file: spoiled.append(file.blob.key)
