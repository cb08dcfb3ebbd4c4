"""Random histories of a machine: whatever meets what, nothing that is listed is lost."""

import pytest

from frepo_core import assemble
from model.real.databases import PostgresqlServer, SqliteFile
from model.real.machine import STEPS, STEPS_OF_DATABASES, STORAGES, Machine
from support.scale import IS_BIG

HISTORIES, LENGTH = (100, 60) if IS_BIG else (1, 40)


@pytest.fixture
def folders(tmp_path):
    return {name: tmp_path / name for name in STORAGES}


@pytest.fixture(params=["local", "sealed"])
def ini(request, ini, folders, tmp_path):
    """Three storages, of which the second may be sealed."""
    ini |= {"fs.local.directory": str(folders["local"]), "storages": "second archive", "mirror": "second"}
    ini |= {f"storage.{name}.adapter": "local" for name in STORAGES[1:]}
    ini |= {f"storage.{name}.directory": str(folders[name]) for name in STORAGES[1:]}
    ini |= {"mirror.rate": "0", "mirror.delete_delay": "7d", "trash.keep": "3d", "compact": "true", "compact.rate": "0"}
    if request.param == "sealed":
        (tmp_path / "keys").write_text(f"{bytes(range(32)).hex()}\n")
        del ini["storage.second.directory"]
        ini |= {"storage.second.adapter": "sealed", "storage.second.over": "below", "storages": "second archive below"}
        ini |= {"storage.second.key_file": str(tmp_path / "keys")}
        ini |= {"storage.below.adapter": "local", "storage.below.directory": str(folders["second"])}
    return ini


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_no_history_of_a_machine_loses_anything(open_services, ini, folders, tmp_path, monkeypatch, seed):
    machine = Machine(SqliteFile(tmp_path, lambda folder: open_services(folder, ini)), folders, seed)

    machine.live(monkeypatch, STEPS + STEPS_OF_DATABASES, LENGTH)


@pytest.mark.costly
@pytest.mark.databases("postgresql")
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_nor_on_postgresql(ini, plugins, postgresql_server, folders, tmp_path, monkeypatch, seed):
    url = ini["database.url"]
    database = PostgresqlServer(tmp_path, url, lambda: assemble(ini, {}, plugins), postgresql_server.emptied)
    machine = Machine(database, folders, seed)

    machine.live(monkeypatch, STEPS + STEPS_OF_DATABASES, LENGTH)
