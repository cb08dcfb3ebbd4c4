"""Versions that a plug-in finds and opens, for itself and for a client."""

import io

import pytest

from frepo_core.domain.roles import Role
from frepo_core.errors import PolicyRefusedError
from frepo_core.plugins import AccessDeniedError, NotFoundError, PolicyRefusal, UploadPolicy

from .conftest import DUMP, told


class Gate:
    """A policy about downloads, which is open at first."""

    is_open = True

    def decide(self, request, context):
        if not self.is_open:
            raise PolicyRefusal("the gate is closed")


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture
def offers(gate):
    return {"upload_policies": [UploadPolicy(name="gate", decide=gate.decide, actions=("download",))]}


@pytest.fixture
def settings(settings):
    return settings | {"events.downloads": "true"}


@pytest.fixture
def admin(running, identify):
    return identify(running.admin)


@pytest.fixture
def reader(running, identify):
    """A client that the collection does not list."""
    return identify(running.make_token(Role.LIST_VERSIONS.value))


@pytest.fixture
def filled(service, collection, admin):
    """A collection with two versions."""
    for number in (1, 2):
        service.add_version(collection, io.BytesIO(DUMP * number), by=admin)
    return collection


@pytest.mark.costly
def test_a_version_is_found_by_its_name(service, filled, admin):
    assert [2, 2, 1] == [service.version(filled, name).number for name in ("latest", "good", 1)]
    assert service.version(filled, 1) == service.version(filled, "v1", by=admin)
    for missing in (3, "v3", "newest of all"):
        with pytest.raises(NotFoundError):
            service.version(filled, missing)
    with pytest.raises(NotFoundError):
        service.version("9a1b7a0e-6a0e-4f0a-9b9f-2f5d0c8a0001", "good")


def test_a_client_must_be_allowed_to_read_it(service, filled, reader):
    with pytest.raises(AccessDeniedError):
        service.version(filled, "good", by=reader)
    with pytest.raises(AccessDeniedError):
        service.open_version(filled, 1, by=reader)


def test_what_a_client_opens_is_a_download(running, service, filled, admin):
    with service.open_version(filled, 1, by=admin) as content:
        assert DUMP == content.read()

    event = told(running, "version.downloaded")
    assert (filled, 1, admin.fingerprint) == (event["collection_id"], event["version_number"], event["actor"])


def test_a_policy_is_asked_about_clients_only(service, filled, gate, admin):
    gate.is_open = False

    with pytest.raises(PolicyRefusedError):
        service.open_version(filled, 1, by=admin)
    with service.open_version(filled, 1) as content:
        assert DUMP == content.read()
