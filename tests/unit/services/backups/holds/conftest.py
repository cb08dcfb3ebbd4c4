"""The worst strategy of a third party, a check whose verdicts the content chooses, and a clock that can be set."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.db import types
from frepo_core.plugins import CheckResult, CollectionStrategy, Finding, StrategySpec, UploadCheck
from support.own_plugins import acme_plugin, open_services, registry_with  # noqa: F401  # a fixture
from support.reliability.clock import clock_of

DAY = timedelta(days=1)


class Greedy(CollectionStrategy):
    """Each upload evicts everything that it may."""

    def make_room(self, collection, incoming):
        return list(collection.versions)


def look(content, context):
    """Say what the first word of the content says."""
    with content.open() as file:
        word = file.read().decode().split()[0]
    if word == "broken":
        raise Finding("it says broken", verdict="broken")
    return CheckResult(outcome="pending" if word == "pending" else "good", message=word)


@pytest.fixture
def plugins():
    greedy = StrategySpec(name="greedy", build=Greedy)
    check = UploadCheck(name="look", run=look)
    return registry_with(acme_plugin("acme-look", upload_checks=[check], strategies=[greedy]))


class Host:
    """The clock of the host, which tests set."""

    def __init__(self):
        self.now = datetime(2028, 2, 25, 2, tzinfo=UTC)

    def read(self):
        return self.now.timestamp()

    def pass_time(self, length):
        self.now += length


@pytest.fixture
def host(monkeypatch):
    host = Host()
    monkeypatch.setattr(types, "datetime", clock_of(host.read))
    return host
