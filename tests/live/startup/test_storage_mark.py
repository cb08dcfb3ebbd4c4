"""A service marks its storage when it starts, so that sweeps of another service find it."""

import subprocess

import pytest

from frepo_core.services.upkeep.storage import OwnerMark
from support.reliability.invariants import eventually


def marks(service):
    keys = [path.relative_to(service.storage).as_posix() for path in service.storage.rglob("*") if path.is_file()]
    return [mark for mark in map(OwnerMark.parse, keys) if mark]


def test_two_services_on_one_storage_refuse_to_sweep_until_one_adopts_it(start_service, tmp_path):
    shared = {"FS_LOCAL_DIRECTORY": str(tmp_path / "shared")}
    first, second = start_service(**shared), start_service(**shared)
    first.storage = tmp_path / "shared"
    assert eventually(lambda: len(marks(first)) == 2)

    for service in (first, second):
        with pytest.raises(subprocess.CalledProcessError) as caught:
            service.frepo("storage:sweep")
        assert "frepo storage:adopt" in caught.value.stderr

    first.frepo("storage:adopt", "--yes")

    first.frepo("storage:sweep")
    with pytest.raises(subprocess.CalledProcessError):
        second.frepo("storage:sweep")
