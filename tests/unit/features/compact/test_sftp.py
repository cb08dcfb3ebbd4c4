"""All that compact does on the storage for SFTP of examples/, as a third party would write it, with a real server."""

import importlib
import random
from datetime import timedelta
from pathlib import Path

import pytest

from frepo_core.db.models import Content
from frepo_core.db.types import simulated_time
from frepo_core.features.compact.feature import CompactServices
from frepo_core.services.base.records import BlobRecord
from frepo_core.services.upkeep.storage import OwnerMark, verify
from sshd import NOT_INSTALLED, SSHD, running_sshd
from support.own_plugins import acme_plugin, open_services, registry_with  # noqa: F401  # a fixture
from support.paths import ROOT
from support.scale import IS_BIG

pytestmark = [pytest.mark.skipif(SSHD is None, reason=NOT_INSTALLED), pytest.mark.databases("sqlite")]
EXAMPLE = ROOT / "examples/frepo-storage-sftp"
NIGHTS, RANGES = (20, 60) if IS_BIG else (4, 6)


@pytest.fixture
def server(tmp_path):
    (tmp_path / "sshd").mkdir()
    with running_sshd(tmp_path / "sshd") as server:
        yield server


@pytest.fixture
def folders(tmp_path):
    """The folders of the first and the second storage on the server."""
    found = {name: tmp_path / f"sftp-{name}" for name in ("first", "second")}
    for folder in found.values():
        folder.mkdir()
    return found


@pytest.fixture
def plugins(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE / "src")
    package = importlib.import_module("frepo_storage_sftp")
    return registry_with(acme_plugin("frepo-storage-sftp", storages=package.frepo_storages()))


@pytest.fixture
def ini(ini, server, folders):
    """Both storages are on an SFTP server."""
    places = {"fs.sftp": folders["first"], "storage.second": folders["second"]}
    settings = {
        f"{prefix}.{name}": value
        for prefix, folder in places.items()
        for name, value in (server.settings | {"directory": str(folder)}).items()
    }
    second = {"storages": "second", "storage.second.adapter": "sftp", "mirror": "second", "mirror.rate": "0"}
    return ini | second | settings | {"fs.adapter": "sftp"}


def objects(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if OwnerMark.parse(path.name.replace("%2F", "/")) is None]


def record(services, row):
    with services.database.reading() as session:
        return BlobRecord.of(session.get(Content, row.content_id), row)


@pytest.mark.costly
def test_nights_are_encoded_read_mirrored_verified_and_expanded(history, services, folders, tmp_path):
    collection, chance = history.make(), random.Random(1)
    for _ in range(NIGHTS):
        history.night(collection)
    assert ["delta"] * (NIGHTS - 1) + ["raw"] == history.encodings(collection)
    history.check()
    for row, content in zip(history.rows(collection).values(), history.contents[collection].values(), strict=True):
        for _ in range(RANGES):
            start, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
            with services.stored_content.open(record(services, row), start, end - start) as part:
                assert content[start:end] == part.read()

    for _ in range(3):
        history.job("mirror")
    assert [] == verify(services.database, services.backends).damaged
    rows = history.rows(collection)
    lost = objects(folders["first"])
    for path in lost:
        path.unlink()
    assert {row.key.replace("/", "%2F") for row in rows.values()} <= {path.name for path in lost}
    for number, row in rows.items():
        with services.stored_content.open(record(services, row)) as content:
            assert history.contents[collection][number] == content.read()

    with simulated_time(history.time + timedelta(days=1)):
        verify(services.database, services.backends)
        for _ in range(3):
            history.job("mirror", days=2)
    with simulated_time(history.time + timedelta(days=3)):
        report = services.feature(CompactServices).compaction.expand_all(keep_going=lambda: None)
    assert (NIGHTS - 1, 0) == (report.expanded, report.failed)
    assert {"raw"} == set(history.encodings(collection))
    for number, row in history.rows(collection).items():
        assert history.contents[collection][number] == history.read(row)
    assert [] == list((tmp_path / "temporary").glob("frepo-compact-*"))
