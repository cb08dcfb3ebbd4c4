"""schemathesis finds no answer of /api/v1 that its document does not describe, and no valid request that is refused."""

import hashlib
import json
import urllib.request

import pytest

from frepo_core.web.schemas.json_schemas import A_COLLECTION
from support.contract.exploration import explore
from support.tus.wire_client import WireTus
from support.wire import Client

EMPTY = [f"00000000-0000-4000-8000-{number:012}" for number in range(1, 4)]
OTHER = "00000000-0000-4000-8000-000000000004"  # no request edits it
ARCHIVE, HISTORY = "00000000-0000-4000-8000-000000000005", "00000002.history"
FILE = "2cf24dba5fhello.txt"
# No random code is right, no target of notifications is configured, the deleted collections had no version, and the
# versions are neither dumps nor archives.
REFUSED = {"redeem_enrolment", "test_notification_target", "download_version_of_deleted_collection", "download_part"}
# v1_contract.toml leaves them out: a schema cannot say which headers of tus belong together.
TUS = {"create_upload", "append_to_upload"}
EDITED_FILE, DELETED_FILE = (
    f"{hashlib.sha256(name.encode()).hexdigest()[:10]}{name}.txt" for name in ("edited", "deleted")
)
NO_LIMITS = {"BACKUP_ONE_VERSION_MAX_SIZE": "0", "BACKUP_COLLECTION_MAX_SIZE": "0", "WORKER_IN_PROCESS": "false"}
ENGINES = {"RESTORE_TESTS_ENGINES": "postgresql:15"}


@pytest.fixture
def send(start_service):
    """A service, and a function that sends it a request: `send("POST", "/collections", {"name": "a"})`."""
    service = start_service(**NO_LIMITS, **ENGINES)

    def send(method: str, path: str, body: object = None) -> dict:
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        headers = {"Authorization": f"Bearer {service.admin}", "Content-Type": "application/json"}
        if isinstance(body, bytes):
            headers["Content-Type"] = "application/octet-stream"
        request = urllib.request.Request(f"{service.url}/api/v1{path}", data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"{}")

    send.service = service
    return send


def begin_upload(service):
    """Make an upload in parts that is complete and waits for its commit; return its id."""
    tus = WireTus(Client(service))
    path = tus.create(5, b"hello", {"Upload-Commit": "required"}, collection=A_COLLECTION)
    return path.rpartition("/")[2]


@pytest.fixture
def existing(send):
    """Create the data that v1_contract.toml names, and more; return the path parameters of the latter by operation."""
    for collection in (A_COLLECTION, OTHER, *EMPTY):
        send("POST", "/collections", {"name": "dump.sql.gz", "id": collection, "guards": {"on_suspicious": "mark"}})
    for collection in EMPTY[:2]:
        send("DELETE", f"/collections/{collection}")
    for collection in (A_COLLECTION, OTHER):
        for number in range(1, 6):
            send("POST", f"/collections/{collection}/versions", b"version %d" % number)
    for number in range(1, 4):
        send("DELETE", f"/collections/{OTHER}/versions/v{number}")
    send("POST", "/collections", {"name": "db7", "id": ARCHIVE, "strategy": "wal"})
    send("PUT", f"/collections/{ARCHIVE}/wal/{HISTORY}", b"1\t0/5000000\tbefore\n")
    for name in ("hello", "edited", "deleted"):
        send("POST", f"/files?name={name}.txt", name.encode())
    for alias in ("latest-dump", "deleted-alias"):
        send("PUT", f"/aliases/{alias}", {"file": FILE})
    tokens = [send("POST", "/tokens", {"roles": ["upload.all"], "name": "db7"})["fingerprint"] for _ in range(5)]
    send("PUT", f"/collections/{A_COLLECTION}/access/{tokens[0]}")
    codes = [send("POST", "/enrolments", {"name": "db7", "collections": [A_COLLECTION]})["id"] for _ in range(2)]
    badge = send("GET", f"/collections/{A_COLLECTION}/badge")["url"].rpartition("/")[2]
    uploads = [begin_upload(send.service) for _ in range(4)]
    return {
        "show_badge": [{"subject": A_COLLECTION, "code": badge.removesuffix(".svg")}],
        "show_upload": [{"upload": uploads[0]}],
        "show_upload_offset": [{"upload": uploads[1]}],
        "delete_upload": [{"upload": uploads[2]}],
        "commit_upload": [{"upload": uploads[3]}],
        "show_enrolment": [{"enrolment": codes[0]}],
        "delete_enrolment": [{"enrolment": codes[1]}],
        "restore_collection": [{"deleted": EMPTY[0]}],
        "end_deleted_collection": [{"deleted": EMPTY[1]}],
        "delete_collection": [{"collection": EMPTY[2]}],
        "delete_version": [{"collection": OTHER, "selector": "v4"}],
        "show_trashed_version": [{"collection": OTHER, "number": "1"}],
        "download_trashed_version": [{"collection": OTHER, "number": "1"}],
        "restore_version": [{"collection": OTHER, "number": "2"}],
        "end_trashed_version": [{"collection": OTHER, "number": "3"}],
        "grant_access": [{"collection": A_COLLECTION, "fingerprint": tokens[0]}],
        "revoke_access": [{"collection": A_COLLECTION, "fingerprint": tokens[0]}],
        "show_token": [{"fingerprint": tokens[1]}],
        "edit_token": [{"fingerprint": tokens[2]}],
        "rotate_token": [{"fingerprint": tokens[3]}],
        "delete_token": [{"fingerprint": tokens[4]}],
        "show_wal": [{"collection": ARCHIVE}],
        # Some of them with the digest of another content.
        "store_wal": [{"collection": ARCHIVE, "name": f"{number:08}.history"} for number in range(3, 9)],
        "fetch_wal": [{"collection": ARCHIVE, "name": HISTORY}],
        "edit_file": [{"name": EDITED_FILE}],
        "delete_file": [{"name": DELETED_FILE}],
        "put_alias": [{"alias": "latest-dump"}],
        "show_alias": [{"alias": "latest-dump"}],
        "list_job_runs": [{"name": "overdue"}],
        "request_job_run": [{"name": "overdue"}],
        "delete_alias": [{"alias": "deleted-alias"}],
    }


@pytest.mark.contract
def test_schemathesis_finds_nothing(send, existing, tmp_path):
    run = explore(send.service, "/api/v1/openapi.json", "v1_contract", tmp_path, existing)

    assert run.status == 0, run.output
    assert send.service.answers()
    assert TUS | REFUSED == run.without_success()
