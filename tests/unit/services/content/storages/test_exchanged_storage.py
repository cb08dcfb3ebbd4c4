"""A storage that is not the one it was, such as an empty mount point: nothing is written to it, nothing is evicted."""

from io import BytesIO

import pytest
from sqlalchemy import select

from frepo_core import assemble
from frepo_core.db.models import Event
from frepo_core.errors import StorageUnavailable
from frepo_core.plugins import StorageSettings, StorageSpec
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.content.storages import write_guard
from frepo_core.services.content.storages.storage_troubles import read_troubles
from frepo_core.services.content.storages.storage_watch import StorageWatch
from frepo_core.services.files.files import NewFile
from frepo_core.services.upkeep.storage import Ownership, find_marks
from frepo_core.testing import Fail, FaultyStorage, MemoryStorage

MISSING = "the mark of this database is missing"


@pytest.fixture
def marked(services):
    """Mark the storage, as a service does when it starts."""
    Ownership(services.database, services.backends).claim("local")


@pytest.fixture
def root(tmp_path):
    return tmp_path / "storage"


@pytest.fixture
def unmount(root):
    """Put an empty folder in place of the storage; return a function that puts the storage back."""

    def unmount():
        disk = root.rename(root.with_name("disk"))
        root.mkdir()

        def mount():
            assert not [path for path in root.rglob("*") if path.is_file()]
            root.rename(root.with_name("empty"))
            disk.rename(root)

        return mount

    return unmount


@pytest.fixture
def restarted(services, ini, plugins):
    """Return the services of another process that starts now, on the same database."""
    return lambda: assemble(ini, {}, plugins, services.database.engine)


def add(services, content, by):
    return services.files.add(NewFile(name="a.txt"), Incoming(stream=BytesIO(content)), by=by)


def troubles(services):
    with services.database.reading() as session:
        return {name: trouble.state for name, trouble in read_troubles(session).items()}


def test_no_version_is_accepted_into_an_empty_folder(services, marked, make_collection, push, numbers, unmount):
    collection = make_collection(1)
    push(collection, b"one")
    mount = unmount()

    with pytest.raises(StorageUnavailable, match=MISSING):
        push(collection, b"two")

    assert {"local": "unavailable"} == troubles(services)
    mount()
    assert [1] == numbers(collection)
    push(collection, b"two")
    assert ([2], {}) == (numbers(collection), troubles(services))


def test_nor_by_a_process_that_starts_while_the_disk_is_missing(marked, upload, sender, unmount, restarted):
    upload(b"one")
    mount = unmount()
    services = restarted()

    with pytest.raises(StorageUnavailable, match=MISSING):
        add(services, b"two", sender)

    mount()
    add(services, b"two", sender)


def test_a_known_content_is_not_stored_again_into_an_empty_folder(marked, upload, unmount):
    upload(b"one")
    mount = unmount()

    with pytest.raises(StorageUnavailable, match=MISSING):
        upload(b"one")

    mount()
    upload(b"one")


def test_a_disk_that_goes_while_a_blob_is_stored_is_noticed(marked, storages, upload, unmount, blob_keys):
    class Going(FaultyStorage):
        def store(self, key, content, size):
            super().store(key, content, size)
            unmount()
            super().store(key, BytesIO(b"two"), 3)

    storages._built["local"] = Going(storages.get("local"))

    with pytest.raises(StorageUnavailable, match=MISSING):
        upload(b"two")

    assert [] == blob_keys()


def test_a_storage_without_a_mark_is_known_by_its_blobs(services, upload, sender, unmount, restarted):
    upload(b"one")
    mount = unmount()
    starting = restarted()

    for write in (
        lambda: add(starting, b"two", sender),
        lambda: Ownership(starting.database, starting.backends).claim("local"),
    ):
        with pytest.raises(StorageUnavailable, match="no mark, and none of the newest 1 blobs"):
            write()

    assert "none of the newest 1 blobs" in Ownership(services.database, services.backends).find_problem("local", [])
    mount()
    Ownership(starting.database, starting.backends).claim("local")
    assert 1 == len(find_marks(starting.backends.get("local")))


def test_a_sweep_in_another_process_leaves_a_newer_mark(services, marked, upload, restarted):
    upload(b"one")
    other = restarted()
    ownership = Ownership(other.database, other.backends)
    ownership.raise_epoch("local")
    ownership.confirm("local", find_marks(other.backends.get("local")))

    upload(b"two")


def test_whoever_adopts_the_empty_storage_may_write_to_it(services, marked, upload, unmount):
    unmount()
    with pytest.raises(StorageUnavailable, match="frepo storage:adopt --storage local"):
        upload(b"one")

    Ownership(services.database, services.backends).adopt("local")

    upload(b"one")


def test_health_doctor_and_status_say_so(services, marked, unmount):
    assert () == services.health.run()["storage"]
    mount = unmount()

    [said] = services.health.run()["storage"]

    assert MISSING in said
    mount()
    assert () == services.health.run()["storage"]


def test_a_service_notices_it_without_an_upload_and_says_once_when_it_begins_and_ends(services, watch, unmount, kinds):
    watch.look()
    mount = unmount()
    for _ in range(3):
        watch.look()
    mount()
    watch.look()

    assert ["storage.unavailable", "storage.recovered"] == kinds()


def test_a_service_marks_a_new_storage_when_it_starts_and_when_it_answers_again(services, watch, wrap):
    faulty = wrap(Fail("store"))
    watch.look()
    assert [] == find_marks(faulty)

    watch.look()
    watch.look()

    assert 1 == len(find_marks(faulty))


@pytest.fixture
def watch(services):
    return StorageWatch(services.database, services.backends, services.presence, services.storage_states)


@pytest.fixture
def kinds(services):
    """Return the kinds of all events about storages, the first one first."""

    def kinds():
        with services.database.reading() as session:
            return list(session.scalars(select(Event.kind).where(Event.kind.like("storage.%")).order_by(Event.id)))

    return kinds


@pytest.fixture
def remote(services, ini):
    """A storage without local files that gets new blobs."""
    storage = FaultyStorage(MemoryStorage())
    services.plugins.storages["remote"] = StorageSpec(
        name="remote", settings=StorageSettings, build=lambda settings: storage
    )
    services.backends.current = "remote"
    Ownership(services.database, services.backends).claim("remote")
    return storage


def test_a_storage_without_files_is_not_asked_for_each_upload(remote, upload):
    upload(b"one")
    asked = remote.calls["stat"]

    for number in range(5):
        upload(b"%d" % number)

    assert 5 == remote.calls["stat"] - asked  # the size of each


def test_a_storage_without_files_is_looked_at_again_after_a_minute(remote, upload, monkeypatch):
    upload(b"one")
    remote.inner = MemoryStorage()
    monkeypatch.setattr(write_guard, "LOOK_SECONDS", 0)

    with pytest.raises(StorageUnavailable, match=MISSING):
        upload(b"two")


def test_a_storage_without_files_is_looked_at_again_after_a_failure(remote, upload):
    upload(b"one")
    remote.inner = MemoryStorage()
    remote.faults.append(Fail("store", nth=remote.calls["store"] + 1))

    for message in ("made to fail", MISSING):
        with pytest.raises(StorageUnavailable, match=message):
            upload(b"two")
