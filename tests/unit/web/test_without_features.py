"""The nucleus alone: the mission works without any feature. `.ci/full nucleus` runs a thousand tests more on it."""

import pytest

from frepo_core.domain.roles import Role
from frepo_core.features import assembly
from frepo_core.features.preview.services import PreviewServices
from frepo_core.services.upkeep.storage import verify
from support.client import COLLECTIONS


@pytest.fixture(autouse=True)
def _without_features(monkeypatch):
    monkeypatch.setattr(assembly, "FEATURES", ())


@pytest.fixture
def collection(_without_features, root):
    return root.post(COLLECTIONS, {"filename": "db.sql", "maxBackupsCount": 1}).json["collection"]["id"]


def test_a_version_is_stored_rotated_and_downloaded(services, root, push, collection):
    for content in (b"first", b"second"):
        push(collection, content)

    listed = root.get(f"/api/v1/collections/{collection}/versions").json["items"]

    assert () == services.features
    assert [2] == [version["number"] for version in listed]
    assert b"second" == root.get(f"{COLLECTIONS}/{collection}/backup/latest").follow().body


def test_a_file_is_stored_downloaded_and_deleted(app, root, upload):
    name = upload(b"content").json["filename"]

    assert b"content" == app.get(f"/repository/file/{name}").body
    assert 1 == len(root.get("/api/v1/files").json["items"])
    root.delete(f"/api/v1/files/{name}")
    app.get(f"/repository/file/{name}", status=404)


def test_a_token_may_do_what_its_roles_say_until_it_is_revoked(root, holder, collection):
    reader = holder(Role.LIST_VERSIONS)
    root.post(f"{COLLECTIONS}/{collection}/token", {"token": reader.token})
    path = f"/api/v1/collections/{collection}/versions"

    assert [200, 403] == [reader.get(path).status_int, reader.delete(f"/api/v1/collections/{collection}").status_int]
    [listed] = [one for one in root.get("/api/v1/tokens").json["items"] if one["roles"] == [Role.LIST_VERSIONS]]
    root.delete(f"/api/v1/tokens/{listed['fingerprint']}")
    assert 401 == reader.get(path).status_int


def test_the_upkeep_of_storages_is_there(services, push, collection):
    push(collection, b"content")

    assert {"verify", "sweep", "trash", "journal", "catalogue"} <= set(services.scheduled_jobs)
    found = verify(services.database, services.backends)
    assert (1, []) == (found.checked, found.damaged)


def test_what_a_feature_adds_is_not_there(services, root, collection):
    assert 404 == root.post(f"/api/v1/collections/{collection}/retention/preview", {}).status_int
    assert "compact" not in services.scheduled_jobs
    with pytest.raises(LookupError, match="PreviewServices"):
        services.feature(PreviewServices)
