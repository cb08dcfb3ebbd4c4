"""Storages that keep their blobs in another storage: `build(settings, storages)`."""

from datetime import timedelta
from pathlib import Path

import pytest

from frepo_core import assemble
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import StorageBackend, StorageSettings, StorageSpec
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.services.upkeep.storage import SweepPlan, sweep
from support.own_plugins import acme_plugin, registry_with


class Settings(StorageSettings):
    over: str = "local"


class Layer(StorageBackend):
    """Keeps each blob in another storage, and counts them."""

    def __init__(self, inner):
        self.inner = inner
        self.stored = 0

    def store(self, key, content, size):
        self.stored += 1
        self.inner.store(key, content, size)

    def open(self, key, start=0, length=None):
        return self.inner.open(key, start, length)

    def delete(self, key):
        self.inner.delete(key)

    def stat(self, key):
        return self.inner.stat(key)

    def list(self):
        return self.inner.list()


def layer(name):
    return StorageSpec(
        name=name, settings=Settings, build=lambda settings, storages: Layer(storages.get(settings.over))
    )


@pytest.fixture
def plugins():
    return registry_with(acme_plugin("acme-layer", storages=[layer("wrapped"), layer("double")]))


@pytest.fixture
def ini(ini):
    return ini | {"fs.adapter": "wrapped"}


@pytest.fixture
def files(ini):
    folder = Path(ini["fs.local.directory"])
    return lambda: sorted(path for path in folder.rglob("*") if path.is_file())


def test_the_blobs_of_a_layer_are_in_the_storage_below_with_its_settings(root, services, files):
    name = root.upload(b"a content").json["filename"]

    assert b"a content" == root.download(name).body
    assert 1 == sum(path.read_bytes() == b"a content" for path in files())
    assert services.backends.get("wrapped").inner is services.backends.get("local")


def test_a_layer_over_a_layer_is_built_once(ini, plugins):
    services = assemble(ini | {"fs.adapter": "double", "fs.double.over": "wrapped"}, {}, plugins)

    assert services.backends.get("double").inner.inner is services.backends.get("local")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fs.wrapped.over": "wrapped"}, "uses the storage 'wrapped', which is or uses 'wrapped' itself"),
        (
            {"fs.wrapped.over": "double", "fs.double.over": "wrapped"},
            "uses the storage 'wrapped', which is or uses 'double' itself",
        ),
        ({"fs.wrapped.over": "none"}, "No installed package provides the storage 'none'"),
    ],
)
def test_a_storage_that_cannot_be_used_stops_the_start(ini, plugins, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        assemble(ini | settings, {}, plugins)


@pytest.mark.parametrize("current", ["wrapped", "local"])
def test_what_a_layer_keeps_is_neither_swept_nor_adopted(root, services, ini, plugins, files, current):
    root.upload(b"a content")
    later = assemble(ini | {"fs.adapter": current}, {}, plugins)
    before = files()

    with pytest.raises(ConfigurationError, match="The storage 'wrapped' keeps its blobs in the storage 'local'"):
        sweep(later.database, later.backends, later.blobs, SweepPlan(storage="local", grace=timedelta(hours=1)))
    with pytest.raises(ConfigurationError, match="keeps its blobs in the storage 'local'"):
        Ownership(later.database, later.backends).adopt("local")

    assert before == files()
    later.database.engine.dispose()


def test_a_layer_is_swept_as_any_storage(root, services):
    root.upload(b"a content")

    report = sweep(
        services.database, services.backends, services.blobs, SweepPlan(storage="wrapped", grace=timedelta(hours=1))
    )

    assert (1, 0, []) == (report.blobs, report.orphans, report.missing)


def test_a_layer_over_a_named_storage_is_no_second_name_of_it(ini, plugins, services, tmp_path):
    more = {"storages": "archive vault", "storage.archive.adapter": "local", "fs.adapter": "local"}
    more |= {"storage.archive.directory": f"{tmp_path}/archive", "storage.vault.adapter": "wrapped"}
    later = assemble(ini | more | {"storage.vault.over": "archive"}, {}, plugins, services.database.engine)
    ownership = Ownership(later.database, later.backends)

    for name in later.backends.configured:
        ownership.claim(name)
        later.presence.look(name)
    sweep(later.database, later.backends, later.blobs, SweepPlan(storage="vault", grace=timedelta(hours=1)))

    later.presence.look("archive")
    assert tmp_path / "archive" == later.backends.get("vault").inner.root
