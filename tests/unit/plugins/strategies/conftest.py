"""Services with a strategy whose answer a test decides."""

import pytest

from frepo_core.plugins import CollectionStrategy, StrategySpec
from support.own_plugins import acme_plugin, registry_with


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
    acme = acme_plugin(
        "acme-slow",
        strategies=[StrategySpec(name="slow", build=lambda: strategy)],
    )
    return registry_with(acme)
