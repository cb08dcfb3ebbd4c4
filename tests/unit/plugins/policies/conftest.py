"""Fixtures: a policy of a plug-in that does what the test sets."""

import pytest

from frepo_core.plugins import UploadPolicy
from support.own_plugins import acme_plugin, registry_with

ACTIONS = ("upload", "delete", "download")


class Doorkeeper:
    """Decides as the test sets, and remembers what it was asked."""

    def __init__(self):
        self.decide = lambda request: None
        self.asked = []

    def __call__(self, request, context):
        self.asked.append(request)
        return self.decide(request)

    def questions(self, *fields):
        return [tuple(getattr(request, field) for field in fields) for request in self.asked]


@pytest.fixture
def doorkeeper():
    return Doorkeeper()


@pytest.fixture
def chosen():
    """What follows a failure; None: the default of the core."""


@pytest.fixture
def plugins(doorkeeper, chosen):
    policy = UploadPolicy(name="door", decide=doorkeeper, actions=ACTIONS, on_failure=lambda settings: chosen)
    return registry_with(acme_plugin("acme-door", upload_policies=[policy]))


@pytest.fixture
def collection(root):
    """A collection with the version 1."""
    made = root.create(maxBackupsCount=9).json["collection"]["id"]
    root.push(made, b"one")
    return made
