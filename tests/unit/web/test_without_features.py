"""The nucleus alone: the mission works without any feature."""

import pytest

from frepo_core.features import assembly
from frepo_core.features.preview.services import PreviewServices
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


def test_what_a_feature_adds_is_not_there(services, root, collection):
    assert 404 == root.post(f"/api/v1/collections/{collection}/retention/preview", {}).status_int
    assert "compact" not in services.scheduled_jobs
    with pytest.raises(LookupError, match="PreviewServices"):
        services.feature(PreviewServices)
