"""Idempotency-Keys after an upgrade: answers stored by an earlier version of frepo are found and correct."""

import hashlib

import pytest
from sqlalchemy import delete

from frepo_core.db import utc_now
from frepo_core.db.models import Upload

COLLECTION, FILE = "0f0e7c9a-4d0b-4a52-8a44-6b1f5a3f7c11", "file"


@pytest.fixture
def client(app, admin):
    """Send requests as the administrator; uploads carry the key `k1`."""
    form = {"filename": "db.sql", "id": COLLECTION, "maxBackupsCount": 3}
    app.post_json(f"/repository/collection?_token={admin}", form)
    return lambda method, path, body=b"", status=None: app.request(
        f"/repository/{path}_token={admin}",
        method=method,
        body=body,
        headers={"Idempotency-Key": "k1", "Content-Type": "application/octet-stream"},
        status=status,
    )


@pytest.fixture
def keyed_push(client):
    return lambda content=b"dump", **more: client("POST", f"collection/{COLLECTION}/backup?", content, **more)


@pytest.fixture
def keyed_upload(client):
    return lambda content=b"dump", **more: client("POST", "file/upload?fileName=a.txt&", content, **more)


@pytest.fixture
def write_row(services, admin):
    """Replace all rows by the row that an earlier version wrote for an answer."""

    def write_row(scope, answer, file_id):
        key = hashlib.sha256(f"{services.tokens.key(admin)}\n{scope}\nk1".encode()).hexdigest()
        digest = hashlib.sha256(b"dump").hexdigest()
        row = {"key": key, "digest": digest, "answer": answer, "created_at": utc_now(), "file_id": file_id}

        def work(session):
            session.execute(delete(Upload))
            session.add(Upload(**row))

        services.database.write(work)

    return write_row


@pytest.fixture(params=["first scope, no file", "scope with time"])
def version(request, keyed_push, services, write_row):
    """The answer to a push; its row is in the format of earlier versions of frepo."""
    answer = keyed_push().json
    since = services.collections.get(COLLECTION).created_at.isoformat()
    scope = COLLECTION if "first" in request.param else f"{COLLECTION} {since}"
    write = lambda: write_row(scope, answer, None if "no file" in request.param else answer["version"]["file"]["id"])
    write()
    return answer, write


@pytest.fixture(params=["no file", "file"])
def file(request, keyed_upload, write_row):
    """The answer to an upload, as `version`."""
    answer = keyed_upload().json
    write = lambda: write_row(FILE, answer, None if request.param == "no file" else answer["id"])
    write()
    return answer, write


@pytest.mark.databases
def test_a_repeated_version_gets_the_stored_answer(keyed_push, version):
    again = keyed_push()

    assert (version[0], 1) == (again.json, again.json["collection"]["last_version"])


def test_other_content_under_the_key_is_refused(keyed_push, version):
    assert 4016 == keyed_push(b"other", status=422).json["error_code"]


def test_a_deleted_version_is_added_again_only_for_an_answer_without_the_time_of_the_collection(
    client, keyed_push, version, request
):
    client("DELETE", f"collection/{COLLECTION}/backup/v1?")
    version[1]()

    again = keyed_push().json

    is_known = "with time" in request.node.callspec.id
    assert (1 if is_known else 2, is_known) == (again["version"]["version"], again.get("removed", False))


def test_a_collection_created_again_does_not_get_the_answers_of_the_first(app, admin, client, keyed_push, version):
    client("DELETE", f"collection/{COLLECTION}/backup/v1?")
    client("DELETE", f"collection/{COLLECTION}?")
    app.post_json(f"/repository/collection?_token={admin}", {"filename": "other.sql", "id": COLLECTION})
    version[1]()

    assert keyed_push().json["version"]["file"]["filename"].endswith("other-v1.sql")


@pytest.mark.databases
def test_a_repeated_file_gets_the_stored_answer(keyed_upload, file):
    assert keyed_upload().json == file[0]


def test_a_deleted_file_is_not_stored_again(client, keyed_upload, file):
    client("DELETE", f"file/{file[0]['filename']}?")
    file[1]()

    assert file[0] | {"removed": True} == keyed_upload().json


def test_a_stored_answer_with_other_fields_is_sent_unchanged(keyed_push, write_row):
    answer = keyed_push().json
    del answer["collection"]["min_retention"]
    write_row(COLLECTION, answer | {"of_then": 1}, None)

    assert keyed_push().json == answer | {"of_then": 1}
