"""Services with a strategy whose answer a test decides."""

import shutil

import pytest

from frepo_core.plugins import CollectionStrategy, StrategySpec
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.composition.assembly import assemble


class Scripted(CollectionStrategy):
    """Evicts the oldest versions of a full collection, after it has called what a test sets as `before`."""

    def __init__(self):
        self.calls = 0
        self.numbers = []
        self.before = lambda: None

    def make_room(self, collection, incoming):
        self.calls += 1
        self.numbers.append(incoming.number)
        self.before()
        versions = list(collection.versions)
        return versions[: max(0, len(versions) + 1 - collection.max_versions)]


@pytest.fixture
def strategy():
    return Scripted()


@pytest.fixture
def plugins(strategy):
    acme = FoundPlugin(
        name="acme",
        distribution="acme-slow",
        version="1.2.3",
        strategies=[StrategySpec(name="slow", build=lambda: strategy)],
    )
    return PluginRegistry([*PluginRegistry.from_entry_points().found, acme])


@pytest.fixture
def open_services(migrated, plugins):
    def assembled(folder, ini):
        shutil.copy(migrated, folder / "frepo.db")
        return assemble(ini, {}, plugins)

    return assembled
