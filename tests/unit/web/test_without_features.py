"""The nucleus alone: the mission works without any feature. `.ci/full nucleus` runs a thousand tests more on it.

Its ports are empty then: nothing makes copies, nothing is decoded, and reports have no figures of features.
"""

from hashlib import sha256
from io import BytesIO

import pytest
from sqlalchemy import select, update

from frepo_core.db.models import StoredObject
from frepo_core.domain.roles import Role
from frepo_core.errors import ConfigurationError
from frepo_core.features import assembly
from frepo_core.features.compact.encoder.encoder import encode
from frepo_core.features.preview.feature import PreviewServices
from frepo_core.features.recovery.feature import FEATURE as RECOVERY
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.journal.objects import OBJECTS
from frepo_core.services.composition.startup import make_ready
from frepo_core.services.reports.figures import Figures
from frepo_core.services.reports.statistics import read_statistics
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

    assert {"verify", "sweep", "trash", "pins", "events"} <= set(services.scheduled_jobs)
    found = verify(services.database, services.backends)
    assert (1, []) == (found.checked, found.damaged)


def test_what_a_feature_adds_is_not_there(services, root, collection):
    assert 404 == root.post(f"/api/v1/collections/{collection}/retention/preview", {}).status_int
    assert "compact" not in services.scheduled_jobs
    with pytest.raises(LookupError, match="PreviewServices"):
        services.feature(PreviewServices)


class TestEmptyPorts:
    """With two storages and the setting `mirror`, which a feature would follow."""

    @pytest.fixture
    def ini(self, ini, tmp_path):
        named = {"storages": "second", "storage.second.adapter": "local"}
        place = {"storage.second.directory": str(tmp_path / "second"), "mirror": "second", "mirror.wait": "60s"}
        return ini | named | place | {"health_check.code": "c0de"}

    def test_an_upload_wants_no_copy_and_waits_for_none(self, services, root, push, collection):
        push(collection, b"content")

        [version] = root.get(f"/api/v1/collections/{collection}/versions").json["items"]
        with services.database.reading() as session:
            stored = session.execute(select(StoredObject.storage, StoredObject.state)).all()
        assert version["copies"] is None
        assert [("local", "present")] == stored
        assert () == services.copies.storages()

    def test_a_collection_may_name_where_its_copies_would_be(self, root, collection):
        path = f"/api/v1/collections/{collection}"
        headers = {"Content-Type": "application/merge-patch+json"}

        root.call("PATCH", path, json={"mirror": "none"}, headers=headers)

        assert "none" == root.get(path).json["mirror"]

    def test_what_cannot_be_read_is_read_nowhere_else(self, services, app, upload):
        file = upload(b"content").json["filename"]
        blob = services.files.find(file).blob
        services.backends.get("local").delete(blob.key)

        assert services.object_reads.notes is None
        app.get(f"/repository/file/{file}", status=500)

    def test_what_is_stored_compressed_is_an_error_that_says_so_and_never_missing(self, services, app, upload):
        file = upload(b"content").json["filename"]
        blob, encoded = services.files.find(file).blob, BytesIO()
        encode(BytesIO(b"content"), encoded, digest=blob.digest, size=blob.size)
        storage = services.backends.get("local")
        storage.delete(blob.key)
        size, digest = len(encoded.getvalue()), sha256(encoded.getvalue()).hexdigest()
        storage.store(blob.key, BytesIO(encoded.getvalue()), size)
        as_stored = update(StoredObject).values(encoding="zstd", stored_size=size, stored_digest=digest)
        services.database.write(lambda session: session.execute(as_stored))

        app.get(f"/repository/file/{file}", status=503)

        for decode in (
            lambda: services.object_reads.use(services.files.find(file).blob, services.chain_reader.open),
            lambda: verify(services.database, services.backends),
            lambda: make_ready(services.database, services.settings, services.plugins, services.backends),
        ):
            with pytest.raises(ConfigurationError, match="made without the feature that decodes"):
                decode()
        with services.database.reading() as session:
            assert ["present"] == list(session.scalars(select(StoredObject.state)))

    def test_reports_have_no_figures_of_features(self, services, app):
        found = read_statistics(services, services.figures)

        assert ((), None) == (found.copies, found.compact)
        assert ((), {}, ()) == (Figures().checks, Figures().statistics(), Figures().lines())
        assert not {"copies", "compact"} & set(services.health.run())
        assert app.get("/health?code=c0de").json["status"]["storage"]


class TestRecoveryAlone:
    """What recovery writes and reads back, if no other feature has kinds of its own."""

    @pytest.fixture(autouse=True)
    def _with_recovery(self, _without_features, monkeypatch):
        monkeypatch.setattr(assembly, "FEATURES", (RECOVERY,))

    def test_a_catalogue_has_the_kinds_of_the_nucleus_in_their_order(self, services):
        recovery = services.feature(RecoveryServices)

        recovery.journal.write_catalogue()

        assert list(OBJECTS) == list(recovery.kinds)
        assert not {"enrolment_code", "sample"} & {kind.name for kind in recovery.kinds}
