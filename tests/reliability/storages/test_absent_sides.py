"""One of two storages is absent: the disk of the first one is unmounted, the second one is away for a day."""

import os

import pytest

from frepo_core.services.upkeep.storage import OwnerMark
from support.reliability.clock import ENVIRONMENT, set_clock
from support.reliability.invariants import Ledger, eventually
from support.reliability.recording_client import RecordingClient
from support.scale import only_in_long_form
from support.servers.disks import Disk
from support.servers.fork_server import ForkedService

pytestmark = only_in_long_form
HOUR = 3600
CODE = "health-c0de"


@pytest.fixture
def disks(tmp_path):
    with Disk(tmp_path / "storage") as first, Disk(tmp_path / "offsite") as second:
        yield first, second


@pytest.fixture
def service(disks, tmp_path, fork_server):
    settings = {
        "STORAGES": "offsite",
        "STORAGE_OFFSITE_ADAPTER": "local",
        "STORAGE_OFFSITE_DIRECTORY": str(tmp_path / "offsite"),
        "MIRROR": "offsite",
        "MIRROR_RATE": "0",
        "FS_CACHE_SIZE": "0",
        "HEALTH_CHECK_CODE": CODE,
        ENVIRONMENT: str(tmp_path / "clock"),
    }
    service = ForkedService(tmp_path, fork_server, settings)
    service.start()
    yield service
    service.stop()


@pytest.fixture
def caller(service):
    return RecordingClient(service, Ledger())


@pytest.fixture
def collection(caller):
    return caller.collection(0)


@pytest.fixture
def wait(tmp_path):
    """Let time pass by the clock of the service, in steps in which jobs run."""
    now = [0]

    def wait(seconds):
        now[0] += seconds
        set_clock(tmp_path / "clock", now[0])

    return wait


def contents_in(disk):
    keys = (path.relative_to(disk.folder).as_posix() for path in disk.folder.glob("??/*"))
    return sorted((disk.folder / key).read_bytes() for key in keys if OwnerMark.parse(key) is None)


def push(caller, collection, contents):
    content = os.urandom(50_000)
    status = caller.push(collection, content).status
    if status == 200:
        contents.append(content)
    return status


def read_all(caller, collection, contents):
    """Return what a client gets of each version."""

    def read(number):
        where = caller.request("GET", f"/repository/collection/{collection}/backup/v{number}").headers["Location"]
        return caller.request("GET", where[where.index("/repository/") :]).body

    return [read(number) for number in range(1, len(contents) + 1)]


def gets_all(caller, contents, disk):
    """Let the job mirror run, and wait until the disk has all contents and the database knows it."""
    assert caller.request("POST", "/api/v1/jobs/mirror/runs").status == 202

    def is_done():
        [last, *_] = caller.request("GET", "/api/v1/jobs/mirror/runs").json["items"] or [{"ended_at": None}]
        return last["ended_at"] is not None and sorted(contents) == contents_in(disk)

    return eventually(is_done, 60)


def is_named(caller, storage):
    """Wait until the health check names a storage."""
    health = f"/health?code={CODE}"
    return eventually(lambda: storage in caller.request("GET", health, token=False).body.decode(), 60)


def test_an_unmounted_first_storage_costs_no_version_and_no_copy(service, disks, caller, collection, wait):
    first, second = disks
    contents = []
    assert [200] * 3 == [push(caller, collection, contents) for _ in range(3)]
    assert gets_all(caller, contents, second)

    first.unmount()
    assert contents == read_all(caller, collection, contents)
    assert 503 == push(caller, collection, contents)
    for _ in range(10):
        wait(26 * HOUR)  # all jobs run, and the delay of deletions is over
        assert eventually(
            lambda: "local" in caller.request("GET", f"/health?code={CODE}", token=False).body.decode(), 60
        )
    assert [] == contents_in(first)
    assert sorted(contents) == contents_in(second)
    first.mount()

    assert eventually(lambda: push(caller, collection, contents) == 200), "no restart is needed"
    assert contents == read_all(caller, collection, contents)
    assert sorted(contents) == contents_in(first)
    wait(2 * HOUR)
    assert gets_all(caller, contents, second)


def test_a_second_storage_that_is_away_for_a_day_gets_everything_later(service, disks, caller, collection, wait):
    _, second = disks
    contents = []
    push(caller, collection, contents)
    assert gets_all(caller, contents, second)

    second.unmount()
    for _ in range(5):
        assert 200 == push(caller, collection, contents)
        wait(5 * HOUR)
    assert contents == read_all(caller, collection, contents)
    assert is_named(caller, "offsite")
    assert [] == contents_in(second)
    second.mount()

    wait(2 * HOUR)  # what failed is tried once an hour
    assert gets_all(caller, contents, second)
    service.stop()
    disks[0].unmount()
    service.start()
    assert contents == read_all(caller, collection, contents)
    disks[0].mount()
