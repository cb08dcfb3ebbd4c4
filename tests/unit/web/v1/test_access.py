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


def test_an_unknown_fingerprint_is_a_404(root, path):
    assert 404 == root.call("PUT", f"{path}/0123456789ab").status_int


def test_a_token_is_no_name_in_a_url(root, uploader, path):
    assert 404 == root.call("PUT", f"{path}/{uploader.token}").status_int


def test_managing_needs_the_role_and_the_list(member, holder, path):
    assert 200 == member(Role.MANAGE_COLLECTION_TOKENS).get(path).status_int
    assert 403 == holder(Role.MANAGE_COLLECTION_TOKENS).get(path).status_int
    assert 403 == member(Role.LIST_VERSIONS).get(path).status_int
