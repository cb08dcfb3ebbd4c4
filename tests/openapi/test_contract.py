"""schemathesis finds no answer that the document does not describe, and no valid request that is refused."""

import json
import urllib.request

import pytest

from frepo_core.web.schemas import json_schemas
from support.contract.exploration import explore

OTHER = "00000000-0000-4000-8000-00000000c055"  # no request but the one that deletes its version names it
HEALTH_CODE = "a code for health checks"
EMPTY_COLLECTIONS = ("00000000-0000-4000-8000-00000000c033", "00000000-0000-4000-8000-00000000c044")


def post(service, path: str, body: bytes) -> dict:
    request = urllib.request.Request(f"{service.url}{path}", body, {"X-Auth-Token": service.admin}, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


@pytest.fixture
def filled(start_service):
    """A service with the data that the examples of the document and contract.toml name."""
    service = start_service(HEALTH_CHECK_CODE=HEALTH_CODE, HTTP_TIMEOUT="1", ADD_BY_URL_ALLOWED_NETWORKS="127.0.0.0/8")
    for token in (json_schemas.A_TOKEN, json_schemas.A_REVOKED_TOKEN):
        post(service, "/auth/token/generate", json.dumps({"roles": ["upload.all"], "id": token}).encode())
    for collection in (json_schemas.A_COLLECTION, OTHER, *EMPTY_COLLECTIONS):
        form = {"filename": "dump.sql.gz", "id": collection}
        post(service, "/repository/collection", json.dumps(form).encode())
    for number in range(1, 21):
        post(service, f"/repository/collection/{json_schemas.A_COLLECTION}/backup", b"%d" % number)
    post(service, f"/repository/collection/{OTHER}/backup", b"a version")
    for content in (b"hello", b"world"):
        post(service, f"/repository/file/upload?fileName={content.decode()}.txt", content)
    return service


@pytest.mark.costly
@pytest.mark.contract
def test_schemathesis_finds_nothing(filled, tmp_path):
    existing = {
        "delete_collection": [{"collection": EMPTY_COLLECTIONS[0]}],
        "delete_version": [{"collection": OTHER, "version": "v1"}],
        "check_health": [{"code": HEALTH_CODE}],
    }
    run = explore(filled, "/api/doc.json", "contract", tmp_path, existing)

    assert run.status == 0, run.output
    assert filled.answers()
    assert set() == run.without_success()
