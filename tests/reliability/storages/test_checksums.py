"""Downloads are verified by a checksum; blobs without one by their digest until they are read completely."""

import pytest
import xxhash
from sqlalchemy import select, update

from frepo_core.db.models import Content
from frepo_core.errors import StorageUnavailable

SMALL, LARGE = b"0123456789" * 10, b"0123456789" * 60_000
each_size = pytest.mark.parametrize("content", [SMALL, LARGE], ids=["small", "large"])


@pytest.fixture
def ini(ini):
    """Disable the content cache, so that every download reads the storage."""
    return ini | {"fs.cache_size": "0"}


@pytest.fixture
def checksums(services):
    def checksums():
        with services.database.reading() as session:
            return session.scalars(select(Content.checksum)).all()

    return checksums


@pytest.fixture
def forget_checksums(services):
    """Remove all checksums, as after an upgrade."""
    return lambda: services.database.write(lambda session: session.execute(update(Content).values(checksum=None)))


@pytest.fixture
def download(app):
    return lambda name: app.get(f"/repository/file/{name}", status="*")


@each_size
def test_a_blob_has_the_checksum_of_its_content(world, checksums, content):
    world.upload(content)

    assert [xxhash.xxh3_128(content).hexdigest()] == checksums()


@each_size
def test_without_a_checksum_the_digest_is_compared(world, services, forget_checksums, content):
    name = world.upload(content)
    forget_checksums()
    blob = services.files.find(name).blob
    assert content == services.stored_content.read(blob, 0, blob.size)
    path = world.backend.path(blob.key)
    path.write_bytes(b"?" + content[1:])
    with pytest.raises(StorageUnavailable, match="other bytes"):
        services.stored_content.read(blob, 0, blob.size)
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["verify", "upload"])
def test_a_blob_gets_a_checksum_when_its_content_is_read(world, forget_checksums, checksums, download, how):
    name = world.upload(SMALL)
    forget_checksums()
    {"verify": world.verify, "upload": lambda: world.upload(SMALL)}[how]()

    assert [xxhash.xxh3_128(SMALL).hexdigest()] == checksums()
    assert download(name).body == SMALL


def test_a_damaged_blob_gets_no_checksum(world, forget_checksums, checksums):
    world.upload(SMALL)
    forget_checksums()
    path = world.backend.path(next(stat.key for stat in world.backend.list()))
    path.write_bytes(b"?" + SMALL[1:])
    world.verify()
    before = checksums()
    world.upload(SMALL)

    assert ([None], [xxhash.xxh3_128(SMALL).hexdigest()]) == (before, checksums())
