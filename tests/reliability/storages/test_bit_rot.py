"""Damaged bytes in the storage: verify finds all, and a complete download never has wrong bytes."""

import pytest

from frepo_core.testing import MemoryStorage, Truncate
from support.reliability.invariants import digest_of

CONTENT = b"0123456789" * 60_000


@pytest.fixture
def ini(ini):
    return ini | {"health_check.code": "a code"}


@pytest.fixture
def path_of(world):
    def path_of(content):
        key = next(stat.key for stat in world.backend.list() if digest_of(content) in stat.key)
        return world.backend.path(key)

    return path_of


def flip(path, other):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def shorten(path, other):
    path.write_bytes(path.read_bytes()[:-1])


def swap(path, other):
    mine, yours = path.read_bytes(), other.read_bytes()
    path.write_bytes(yours)
    other.write_bytes(mine)


def delete(path, other):
    path.unlink()


ROTS = [flip, shorten, swap, delete]
each_rot = pytest.mark.parametrize("rot", ROTS, ids=lambda rot: rot.__name__)


@pytest.fixture
def rotten(world, path_of):
    """Damage a file; return its name and content. After the test both contents are stored again."""
    other = CONTENT[::-1]
    name = world.upload(CONTENT)
    world.upload(other)

    def rotten(rot):
        rot(path_of(CONTENT), path_of(other))
        return name

    yield rotten
    world.verify()
    world.upload(CONTENT)
    world.upload(other)


@each_rot
def test_verify_finds_every_damage(world, rotten, rot):
    rotten(rot)
    found = {damage.digest for damage in world.verify().damaged}

    assert ({digest_of(CONTENT), digest_of(CONTENT[::-1])} if rot is swap else {digest_of(CONTENT)}) == found


@each_rot
def test_blobs_marked_as_damaged_are_never_served(world, rotten, app, rot):
    name = rotten(rot)
    world.verify()
    replies = [
        app.get(f"/repository/file/{name}", headers=headers, status="*")
        for headers in ({}, {"Range": "bytes=0-9"}, {"If-None-Match": f'"{digest_of(CONTENT)}"'})
    ]

    assert {(500, 7016105)} == {(reply.status_int, reply.json["error_code"]) for reply in replies}


@pytest.mark.parametrize("rot", [flip, swap], ids=lambda rot: rot.__name__)
def test_a_streamed_download_of_damaged_bytes_is_aborted_before_its_end(world, rotten, services, rot):
    """The backend has no local files, and the lengths match: only the digest can detect the damage."""
    name = rotten(rot)
    with services.stored_content.open(services.files.find(name).blob) as content:
        got = b""
        with pytest.raises(Exception, match="other bytes"):
            while block := content.read(1 << 18):
                got += block

    assert len(got) < len(CONTENT)


def test_a_streamed_download_that_ends_early_is_reported_as_incomplete(world, services):
    name = world.upload(CONTENT)
    world.wrap(Truncate("open", after=1000))
    with (
        services.stored_content.open(services.files.find(name).blob) as content,
        pytest.raises(Exception, match="other bytes"),
    ):
        while content.read(1 << 18):
            pass


@pytest.mark.parametrize("at", [0, 300_000, 599_999])
def test_a_backend_with_wrong_bytes_aborts_an_http_download(world, app, at):
    memory = MemoryStorage()
    world.replace(memory)
    name = world.upload(CONTENT)
    key, blob = next(iter(memory._blobs.items()))
    wrong = bytearray(CONTENT)
    wrong[at] ^= 1
    memory._blobs[key] = type(blob)(content=bytes(wrong), stat=blob.stat)
    with pytest.raises(Exception, match="other bytes"):
        app.get(f"/repository/file/{name}")
    memory._blobs[key] = blob

    assert CONTENT == app.get(f"/repository/file/{name}").body


def test_a_storage_that_silently_truncates_is_detected_at_once(world, services):
    collection = world.collection(1)
    world.push(collection, b"good")
    before = world.snapshot()
    world.wrap(Truncate("store", after=3))
    with pytest.raises(Exception, match="kept 3 of"):
        world.push(collection, b"much longer")

    assert before == world.snapshot()
