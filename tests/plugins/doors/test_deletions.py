"""Versions that a plug-in deletes: never those that are held."""

import io

import pytest

from frepo_core.domain.roles import Role
from frepo_core.errors import PolicyRefusedError
from frepo_core.plugins import (
    AccessDeniedError,
    CollectionValues,
    NotFoundError,
    PolicyRefusal,
    ReadOnlyError,
    UploadPolicy,
)

from .conftest import DUMP, told


@pytest.fixture
def collection(running, service, identify):
    """A collection with the versions 1 to 5."""
    by = identify(running.admin)
    made = service.create_collection(CollectionValues(name="wal", max_versions=10), by=by).id
    for number in range(1, 6):
        service.add_version(made, io.BytesIO(DUMP + bytes([number])), by=by)
    return made


@pytest.fixture
def remover(running, identify, collection):
    """The identity of a token that may delete versions, into the trash."""
    by = identify(running.make_token(Role.DELETE_VERSIONS.value))
    running.request("PUT", f"/api/v1/collections/{collection}/access/{by.fingerprint}")
    return by


def trashed(service, collection):
    return [one.number for one in service.trash(collection).items]


def patch(running, path, values):
    headers = {"Content-Type": "application/merge-patch+json"}
    assert 200 == running.request("PATCH", f"/api/v1/collections/{path}", values, headers=headers).status


def test_versions_are_deleted_into_the_trash_with_the_reason(running, service, collection, remover):
    assert 2 == service.delete_versions(collection, [1, 3, 99], by=remover, reason="No base backup needs them")

    event = told(running, "version.deleted", version_number=3)
    assert ([2, 4, 5], [3, 1]) == (running.versions(collection), trashed(service, collection))
    assert (remover.fingerprint, "No base backup needs them") == (event["actor"], event["data"]["reason"])
    assert event["data"]["ends_at"]


def test_the_plugin_itself_can_delete_for_good(running, service, collection):
    assert 2 == service.delete_versions(collection, [1, 2], by=None, reason="Expired", trash=False)

    event = told(running, "version.deleted", version_number=1)
    assert ([3, 4, 5], []) == (running.versions(collection), trashed(service, collection))
    assert ("system:acme", "ends_at" in event["data"]) == (event["actor"], False)
    assert 3 == running.request("GET", f"/api/v1/collections/{collection}").json["versions"]


def test_what_is_held_stays(running, service, collection, remover):
    patch(running, f"{collection}/versions/v1", {"pinned": True})
    assert 1 == service.delete_versions(collection, [1, 2], by=remover, reason="Expired", trash=True)
    patch(running, collection, {"guards": {"min_retention": "P2D"}})
    assert 0 == service.delete_versions(collection, [1, 3], by=None, reason="Expired", trash=False)
    patch(running, collection, {"guards": {"min_retention": "PT0S"}, "locked": "P1D"})
    assert 0 == service.delete_versions(collection, [1, 3], by=None, reason="Expired", trash=False)

    assert [1, 3, 4, 5] == running.versions(collection)


def test_each_needs_its_permission(running, service, collection, remover, identify):
    other = identify(running.make_token(Role.DELETE_VERSIONS.value))
    for by, more in ((other, {}), (remover, {"trash": False})):
        with pytest.raises(AccessDeniedError):
            service.delete_versions(collection, [1], by=by, reason="Expired", **more)
    with pytest.raises(NotFoundError):
        service.delete_versions("9a1b7a0e-6a0e-4f0a-9b9f-2f5d0c8a0001", [1], by=None, reason="Expired")
    for numbers, reason in ((range(1001), "Expired"), ([1], ""), ([1], "x" * 501)):
        with pytest.raises(ValueError, match="at most"):
            service.delete_versions(collection, numbers, by=None, reason=reason)

    assert [1, 2, 3, 4, 5] == running.versions(collection)


class TestPolicies:
    @pytest.fixture
    def offers(self):
        def decide(request, context):
            if request.takes_last_good or request.version == 2:
                raise PolicyRefusal("it is needed")

        return {"upload_policies": [UploadPolicy(name="needed", decide=decide, actions=("delete",))]}

    def test_a_policy_is_asked_about_each_and_all(self, running, service, collection):
        for numbers in ([1, 2], [1, 3, 4, 5, 2]):
            with pytest.raises(PolicyRefusedError):
                service.delete_versions(collection, numbers, by=None, reason="Expired")
        assert 1 == service.delete_versions(collection, [1], by=None, reason="Expired")

        assert [2, 3, 4, 5] == running.versions(collection)


class TestReadOnly:
    @pytest.fixture
    def settings(self, settings):
        return settings | {"read_only": "true"}

    @pytest.fixture
    def collection(self):
        return "x"

    def test_nothing_is_deleted(self, service, collection):
        with pytest.raises(ReadOnlyError):
            service.delete_versions(collection, [1], by=None, reason="Expired")
