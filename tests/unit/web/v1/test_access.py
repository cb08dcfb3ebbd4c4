"""The list of tokens of a collection in /api/v1, by fingerprint."""

import pytest

from frepo_core.domain.roles import Role


@pytest.fixture
def path(collection):
    return f"/api/v1/collections/{collection}/access"


def test_granting_and_revoking(root, uploader, services, path):
    fingerprint = services.tokens.fingerprint(uploader.token)

    granted = root.call("PUT", f"{path}/{fingerprint}")
    again = root.call("PUT", f"{path}/{fingerprint}")
    listed = root.get(path).json["items"]

    assert (201, 200, granted.json) == (granted.status_int, again.status_int, again.json)
    assert {"fingerprint": fingerprint, "name": None, "roles": ["upload.all"], "expires_at": None} in listed
    assert [204, 204] == [root.delete(f"{path}/{fingerprint}").status_int for _ in range(2)]
    assert fingerprint not in {entry["fingerprint"] for entry in root.get(path).json["items"]}


def test_what_is_no_known_fingerprint_is_a_404(root, path, uploader):
    assert 404 == root.call("PUT", f"{path}/0123456789ab").status_int
    assert 404 == root.call("PUT", f"{path}/{uploader.token}").status_int


def test_managing_needs_the_role_and_the_list(member, holder, path):
    assert 200 == member(Role.MANAGE_COLLECTION_TOKENS).get(path).status_int
    assert 403 == holder(Role.MANAGE_COLLECTION_TOKENS).get(path).status_int
    assert 403 == member(Role.LIST_VERSIONS).get(path).status_int


def test_a_hidden_token_cannot_be_named(root, member, holder, services, make_collection, path):
    """Its name, its roles and its expiry would be shown. /api/v1/tokens hides it: only another collection lists it."""
    manager, other = member(Role.MANAGE_COLLECTION_TOKENS), holder(Role.UPLOAD_VERSIONS)
    fingerprint = services.tokens.fingerprint(other.token)
    services.token_lists.allow(make_collection(), services.tokens.key(other.token))

    refused = [manager.call(method, f"{path}/{fingerprint}") for method in ("PUT", "DELETE")]

    assert [404, 404] == [answer.status_int for answer in refused]
    assert fingerprint not in {entry["fingerprint"] for entry in root.get(path).json["items"]}
    assert 201 == root.call("PUT", f"{path}/{fingerprint}").status_int
    assert 200 == manager.call("PUT", f"{path}/{fingerprint}").status_int
