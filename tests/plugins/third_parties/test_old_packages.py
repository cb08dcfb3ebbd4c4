"""Packages that were written for frepo 0.1 run unchanged: a storage, a strategy and an endpoint."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from webtest import TestApp

from frepo_core.db import simulated_time
from frepo_core.plugins.mistakes import find_deprecated_uses
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.web import make_app
from support.client import Client
from support.own_plugins import open_services  # noqa: F401  # fixtures

PACKAGES = Path(__file__).parent / "packages_of_0_1"
NAMES = ("acme_crate", "acme_daily", "acme_sparse")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the packages: their metadata on the path, beside the modules."""
    folder = tmp_path_factory.mktemp("installed")
    for name in NAMES:
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[frepo]\n{name} = {name}\n")
    sys.path[:0] = [str(folder), str(PACKAGES)]
    yield
    del sys.path[:2]
    for module in [module for module in sys.modules if module.partition(".")[0] in NAMES]:
        del sys.modules[module]


@pytest.fixture(scope="module")
def plugins(installed):
    return PluginRegistry.from_entry_points()


@pytest.fixture
def ini(ini, tmp_path):
    ours = {name: value for name, value in ini.items() if name != "fs.local.directory"}
    return ours | {"fs.adapter": "AcmeCrate", "fs.AcmeCrate.directory": str(tmp_path / "crate")}


@pytest.fixture
def root(services, admin):
    return Client(TestApp(make_app(services)), admin)


def test_all_are_found(plugins):
    origins = {plugin.name: plugin.origin for plugin in plugins.found}

    assert [
        "the plug-in 'acme_crate' of the package acme-crate 1.0",
        "the plug-in 'acme_daily' of the package acme-daily 1.0",
        "the plug-in 'acme_sparse' of the package acme-sparse 1.0",
    ] == [origins[name] for name in NAMES]


def test_the_storage_and_the_strategy_keep_versions(root, services, tmp_path):
    collection = root.create(strategy="acme_daily", maxBackupsCount=2).json["collection"]["id"]
    for content in (b"first", b"second", b"third"):
        root.push(collection, content)

    left = sorted(root.versions(collection))
    newest = root.get(f"/repository/collection/{collection}/backup/latest").follow()

    assert (["2", "3"], b"third") == (left, newest.body)
    assert 3 == sum(len(files) for _, _, files in os.walk(tmp_path / "crate")), "the evicted one is in the trash"
    services.service_time.start()
    services.service_time.stop()


def test_the_endpoint_answers(root):
    collection = root.create(strategy="acme_daily", maxBackupsCount=2).json["collection"]["id"]
    root.push(collection, b"first")

    assert {"fits": True, "leaving": []} == root.get(f"/acme-daily/{collection}/preview", {"size": 5}).json


@pytest.mark.parametrize("strategy", ["one_each_day", "one_each_day_at_most"])
def test_a_strategy_that_keeps_one_version_a_day_replaces_it_at_the_second_push(root, strategy):
    collection = root.create(strategy=strategy, maxBackupsCount=5).json["collection"]["id"]
    with simulated_time(datetime(2026, 2, 27, 12, tzinfo=UTC)):
        statuses = [root.push(collection, content).status_int for content in (b"morning", b"evening")]

    assert ([200, 200], ["2"]) == (statuses, sorted(root.versions(collection)))


def test_a_deprecated_field_is_reported_with_its_package(plugins):
    (warning,) = find_deprecated_uses(plugins.found)

    assert (
        "the plug-in 'acme_sparse' of the package acme-sparse 1.0 passes may_evict_all for the strategy "
        "'one_each_day_at_most'"
    ) in warning
