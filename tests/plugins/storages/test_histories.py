"""Random histories of a machine whose storages are on servers: nothing that is listed is lost."""

import pytest

from model.real.databases import SqliteFile
from model.real.machine import STEPS, STEPS_OF_DATABASES, Machine
from support.scale import IS_BIG

HISTORIES, LENGTH = (20, 60) if IS_BIG else (1, 25)
PAIRS = [("local", "awss3v3"), ("awss3v3", "local"), ("local", "ftp"), ("awss3v3", "ftp")]


@pytest.fixture(params=PAIRS, ids="-".join)
def folders(request, tmp_path):
    """The folders of the storages that are not on servers, by the names of the storages."""
    first, second = request.param
    names = [first, *(["second"] if second == "local" else []), "archive"]
    return {name: tmp_path / name for name in names if name not in ("awss3v3", "ftp")}


@pytest.fixture
def ini(request, ini, folders, settings_of):
    """Settings with the first storage of a pair, the second one for second copies, and a third one."""
    first, second = request.node.callspec.params["folders"]
    ini = {name: value for name, value in ini.items() if not name.startswith("fs.local.")}
    named = {f"fs.{first}": first, "storage.second": "second", "storage.archive": "archive"}
    for (prefix, name), adapter in zip(named.items(), (first, second, "local"), strict=True):
        own = {"directory": folders[name]} if adapter == "local" else settings_of(adapter)
        ini |= {f"{prefix}.{setting}": str(value) for setting, value in own.items()}
    ini |= {"fs.adapter": first, "storages": "second archive", "mirror": "second", "mirror.rate": "0"}
    ini |= {"storage.second.adapter": second, "storage.archive.adapter": "local", "fs.cache_size": "0"}
    return ini | {"mirror.delete_delay": "7d", "trash.keep": "3d", "compact": "true", "compact.rate": "0"}


@pytest.mark.costly
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_no_history_over_servers_loses_anything(open_services, ini, folders, tmp_path, monkeypatch, seed):
    machine = Machine(SqliteFile(tmp_path, lambda folder: open_services(folder, ini)), folders, seed)

    machine.live(monkeypatch, STEPS + STEPS_OF_DATABASES, LENGTH)
