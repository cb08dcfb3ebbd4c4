"""SQLite on a full disk, with the storage on it or not: deletions still work, and so do uploads after them."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.scale import first_of
from support.servers.disks import small_disk
from support.wire import Client, blob_files

MIB = 1 << 20


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", "48m") as folder:
        yield folder


@pytest.fixture
def settings():
    return {}


@pytest.fixture(params=first_of(["alone", "with the storage"]))
def service(request, disk, start_service, settings):
    # The worker writes by itself. That makes room in the write-ahead log, in which a small upload finds space again.
    environment = settings | {"DATABASE_URL": f"sqlite:///{disk}/frepo.db", "WORKER_IN_PROCESS": "false"}
    if request.param == "with the storage":
        (disk / "temporary").mkdir()
        environment |= {"FS_LOCAL_DIRECTORY": str(disk / "storage"), "TEMP_DIRECTORY": str(disk / "temporary")}
    return start_service(**environment)


@pytest.fixture
def client(service):
    return Client(service)


def fill(disk):
    """Leave no space on the disk."""
    with (disk / "filler").open("ab", buffering=0) as filler:
        while True:
            try:
                filler.write(bytes(4096))
            except OSError:
                return


def push_until_full(client, disk):
    """Make a collection with versions and fill the disk; return its id."""
    collection = client.collection()
    for number in range(4):
        assert client.push(collection, bytes([number, 255]) * (MIB // 2)).status == 200
    fill(disk)
    answer = client.push(collection, os.urandom(MIB))
    for _ in range(50):  # until the write-ahead log must grow
        if answer.status == 507:
            return collection
        fill(disk)
        answer = client.push(collection, os.urandom(MIB))
    raise AssertionError(f"the disk is not full: {answer.status}")


def delete(client, collection, version):
    return client.request("DELETE", f"/repository/collection/{collection}/backup/{version}").status


def reserve(disk):
    return (disk / "frepo.db-reserve").stat()


def test_a_version_is_deleted_and_another_uploaded(client, disk):
    collection = push_until_full(client, disk)

    assert 200 == delete(client, collection, "v1")
    assert 200 == client.push(collection, os.urandom(MIB // 2)).status
    assert 16 * MIB == reserve(disk).st_size
    assert 16 * MIB <= reserve(disk).st_blocks * 512, "the space is taken, and not only named"


@pytest.mark.costly
def test_many_deletions_work_one_after_the_other(client, disk):
    collection = push_until_full(client, disk)

    for version in ("v1", "v2", "v3"):
        fill(disk)
        assert 200 == delete(client, collection, version)

    assert 15 * MIB < reserve(disk).st_size, "only what the events need is taken from it while nothing else is free"


@pytest.mark.costly
def test_deletions_at_the_same_time_all_work(client, disk):
    collection = push_until_full(client, disk)

    with ThreadPoolExecutor(4) as threads:
        statuses = list(threads.map(lambda number: delete(client, collection, f"v{number}"), range(1, 5)))

    assert [200] * 4 == statuses
    assert 16 * MIB == reserve(disk).st_size


@pytest.mark.parametrize("settings", [{"TRASH_KEEP": "0"}])
def test_uploads_cannot_use_up_the_reserve(client, disk):
    """Uploads must not use the space that is reserved for deletions. With a trash, deletions free no space at once."""
    collection = client.collection()
    for _ in range(20):
        assert 200 == client.push(collection, os.urandom(MIB // 4)).status
    is_over = threading.Event()

    def upload():
        while not is_over.is_set():
            client.push(collection, os.urandom(MIB // 4))

    fill(disk)
    with ThreadPoolExecutor(4) as threads:
        for _ in range(4):
            threads.submit(upload)
        statuses = []
        for number in range(1, 13):
            statuses.append(delete(client, collection, f"v{number}"))
            fill(disk)
        is_over.set()

    assert [200] * 12 == statuses
    assert 8 * MIB < reserve(disk).st_size


def test_an_upload_that_finds_no_space_leaves_no_bytes(client, service, disk):
    collection = push_until_full(client, disk)
    fill(disk)  # the refused upload may have truncated the write-ahead log
    before = blob_files(service)
    for _ in range(10):
        assert 507 == client.push(collection, os.urandom(5000)).status
        fill(disk)

    assert before == blob_files(service)


@pytest.fixture
def stopped(client, service, disk):
    """A collection of a stopped service, whose database is one file on a disk that is now full."""
    collection = push_until_full(client, disk)
    (disk / "filler").unlink()
    client.push(collection, b"the last one")
    service.stop()
    assert not (disk / "frepo.db-wal").exists()
    fill(disk)
    return collection


@pytest.mark.costly
@pytest.mark.own_server  # stock waitress leaves the file -wal when it stops
def test_a_service_that_starts_on_a_full_disk_deletes(client, service, stopped):
    service.start()

    assert 200 == delete(client, stopped, "v1")


@pytest.mark.costly
@pytest.mark.own_server
@pytest.mark.usefixtures("stopped")
def test_the_console_works_on_a_full_disk(service):
    assert "orphans" in service.frepo("storage:sweep")
