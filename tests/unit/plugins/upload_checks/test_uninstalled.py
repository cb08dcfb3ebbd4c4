"""What a check found stays what the service found, also when its plug-in is not installed any more."""

import pytest

from frepo_core import assemble
from frepo_core.domain.roles import Role
from frepo_core.plugins import Finding
from frepo_core.plugins.registry import PluginRegistry
from support.client import Client


@pytest.fixture
def sender(make_token):
    """A token whose uploads are checked, and which may record results."""
    return make_token(Role.ADMINISTRATOR)


@pytest.fixture
def without_acme(services, ini, plugins, make_test_app, sender):
    """A client of a service without the plug-in, over the same database."""
    others = PluginRegistry([plugin for plugin in plugins.found if plugin.name != "acme"])
    return Client(make_test_app(assemble(ini, {}, others, services.database.engine)), sender)


@pytest.fixture
def path(root, collection, painter, sender):
    """The path to a version that the check found broken when it arrived."""

    def find(content, context):
        raise Finding("it ends too early")

    painter.act = find
    assert 200 == Client(root.app, sender).push(collection, b"a dump").status_int
    return f"/api/v1/collections/{collection}/versions/v1"


def outcomes(client, path):
    return {check["name"]: check["outcome"] for check in client.get(f"{path}/checks").json["items"]}


def test_a_client_does_not_replace_it(path, without_acme):
    answer = without_acme.post(f"{path}/checks", {"name": "paint", "outcome": "good"})

    assert (400, "name") == (answer.status_int, answer.json["errors"][0]["field"])
    assert {"paint": "broken"} == outcomes(without_acme, path)


@pytest.mark.costly
@pytest.mark.databases
def test_nor_after_its_version_was_restored(path, without_acme, collection):
    assert 201 == without_acme.post(f"{path}/checks", {"name": "mine", "outcome": "broken"}).status_int
    assert 204 == without_acme.delete(path).status_int
    assert 201 == without_acme.post(f"/api/v1/collections/{collection}/trash/1/restore", {}).status_int

    assert 400 == without_acme.post(f"{path}/checks", {"name": "paint", "outcome": "good"}).status_int
    assert 201 == without_acme.post(f"{path}/checks", {"name": "mine", "outcome": "good"}).status_int
    assert {"paint": "broken", "mine": "good"} == outcomes(without_acme, path)


def test_it_takes_none_of_the_names_of_clients(path, without_acme):
    for number in range(20):
        assert 201 == without_acme.post(f"{path}/checks", {"name": f"check_{number}", "outcome": "good"}).status_int

    assert 400 == without_acme.post(f"{path}/checks", {"name": "another", "outcome": "good"}).status_int
