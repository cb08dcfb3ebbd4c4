"""A real disk is missing, or is removed from a running service: nothing is lost, and everything is reported."""

import os
import subprocess

import pytest

from frepo_core.services.upkeep.storage import OwnerMark
from support.reliability.invariants import Ledger, eventually
from support.reliability.recording_client import RecordingClient, assert_holds_after_sweep
from support.servers.disks import Disk
from support.servers.fork_server import ForkedService

CODE = "health-c0de"


@pytest.fixture
def disk(tmp_path):
    with Disk(tmp_path / "storage") as disk:
        yield disk


@pytest.fixture
def service(disk, tmp_path, fork_server):
    service = ForkedService(tmp_path, fork_server, {"HEALTH_CHECK_CODE": CODE, "FS_CACHE_SIZE": "0"})
    service.start()
    assert eventually(lambda: any(OwnerMark.parse(key) for key in keys(disk)))
    yield service
    service.stop()


@pytest.fixture
def caller(service):
    return RecordingClient(service, Ledger())


def keys(disk):
    paths = [path for path in disk.folder.rglob("*") if path.is_file()]
    return [path.relative_to(disk.folder).as_posix() for path in paths]


def console(service, *arguments):
    """Run a command; return its exit code and all that it says."""
    try:
        return 0, service.frepo(*arguments)
    except subprocess.CalledProcessError as error:
        return error.returncode, error.stdout + error.stderr


def health(caller):
    return caller.request("GET", f"/health?code={CODE}", token=False)


@pytest.mark.parametrize("is_restarted", [False, True], ids=["while it runs", "before its start"])
def test_an_empty_mount_point_gets_nothing_and_costs_nothing(service, disk, caller, is_restarted):
    collection = caller.collection(2)
    contents = [os.urandom(200_000) for _ in range(3)]
    pushed = [caller.push_and_record(collection, content) for content in contents]
    if is_restarted:
        service.stop()
    disk.unmount()
    if is_restarted:
        service.start()

    refused = [caller.push(collection, content) for content in (b"new", contents[2])]
    said = health(caller).body.decode()
    told = [console(service, command) for command in ("doctor", "status")]
    verified, complaint = console(service, "storage:verify")
    left = keys(disk)
    disk.mount()

    assert ([200] * 3, [(503, 7016103)] * 2) == (pushed, [(each.status, each.json["error_code"]) for each in refused])
    assert "is not the one it was" in said
    assert all(code and "is not the one it was" in " ".join(text.split()) for code, text in told)
    assert verified
    assert "the bytes are missing" not in complaint
    assert "is not the one it was" in complaint
    assert [] == left
    assert {"2", "3"} == set(caller.versions(collection))
    assert (200, 0) == (health(caller).status, console(service, "storage:verify")[0])
    assert 200 == caller.push_and_record(collection, b"new")
    service.stop()
    assert_holds_after_sweep(service, caller.ledger)
