"""Idempotency-Key: an upload whose answer was lost can be repeated."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, Upload
from frepo_core.domain.roles import Role


@pytest.fixture
def keyed_upload(upload):
    """Upload with a key, `k1` by default."""
    return lambda content, key="k1", **more: upload(content, Idempotency_Key=key, **more)


@pytest.fixture
def collection(make_collection):
    """A collection of one version at most."""
    return make_collection(maxBackupsCount=1)


@pytest.fixture
def keyed_push(push, collection):
    """Push to the collection with a key, `k1` by default."""
    return lambda content, key="k1": push(collection, content, Idempotency_Key=key)


def test_a_repeated_upload_gets_the_first_answer_again(keyed_upload):
    first = keyed_upload(b"content")

    again = keyed_upload(b"content")

    assert (first.status, first.json) == (again.status, again.json)
    assert first.headers["Repr-Digest"] == again.headers["Repr-Digest"]


def test_the_same_key_with_other_content_is_refused_with_422(keyed_upload):
    keyed_upload(b"content")

    refused = keyed_upload(b"other content", status=422)

    assert 4016 == refused.json["error_code"]


def test_another_key_is_another_upload(keyed_upload):
    keyed_upload(b"content")

    again = keyed_upload(b"content", key="k2")

    assert 202 == again.status_int


@pytest.mark.databases
def test_keys_of_two_tokens_are_independent(keyed_upload, make_token):
    keyed_upload(b"content")

    other = keyed_upload(b"other content", token=make_token(Role.UPLOAD_ALL))

    assert 200 == other.status_int


@pytest.mark.databases
def test_a_key_expires_after_a_day(keyed_upload, services):
    keyed_upload(b"content")
    day_ago = utc_now() - timedelta(hours=25)
    services.database.write(lambda session: session.execute(update(Upload).values(created_at=day_ago)))

    again = keyed_upload(b"other content")

    assert 200 == again.status_int


@pytest.mark.databases
def test_a_repeated_version_is_one_version(keyed_push):
    first = keyed_push(b"dump")

    again = keyed_push(b"dump")

    assert first.json == again.json
    assert 1 == again.json["collection"]["last_version"]


@pytest.mark.databases
def test_a_version_that_was_rotated_out_is_added_again(keyed_push):
    keyed_push(b"dump")
    keyed_push(b"next dump", key="k2")

    again = keyed_push(b"dump")

    assert 3 == again.json["version"]["version"] == again.json["collection"]["last_version"]


def test_a_version_that_was_deleted_is_added_again(app, admin, collection, keyed_push):
    keyed_push(b"dump")
    app.delete(f"/repository/collection/{collection}/backup/v1?_token={admin}")

    assert keyed_push(b"dump").json["version"]["version"] == 2


@pytest.mark.databases
def test_a_file_that_was_deleted_is_stored_again(app, admin, keyed_upload):
    name = keyed_upload(b"content").json["filename"]
    app.delete(f"/repository/file/{name}?_token={admin}")
    again = keyed_upload(b"content").json["filename"]

    assert app.get(f"/repository/file/{again}?_token={admin}").body == b"content"


@pytest.mark.databases
def test_a_collection_created_again_with_its_id_has_new_keys(app, admin):
    chosen = "0f0e7c9a-4d0b-4a52-8a44-6b1f5a3f7c11"
    path = f"/repository/collection/{chosen}"
    for _ in range(2):
        app.post_json(
            f"/repository/collection?_token={admin}", {"filename": "db.sql", "id": chosen, "maxBackupsCount": 1}
        )
        for content in (b"dump", b"next"):
            headers = {"Idempotency-Key": content.decode(), "Content-Type": "application/octet-stream"}
            last = app.post(f"{path}/backup?_token={admin}", content, headers=headers).json
            assert last["collection"]["last_version"] == last["version"]["version"] == (1 if content == b"dump" else 2)
        app.delete(f"{path}/backup/v2?_token={admin}")
        app.delete(f"{path}?_token={admin}")


def test_damaged_content_is_stored_again(app, admin, keyed_upload, services):
    name = keyed_upload(b"content").json["filename"]
    services.database.write(lambda session: session.execute(update(Blob).values(damaged_at=utc_now())))
    keyed_upload(b"content")

    assert app.get(f"/repository/file/{name}?_token={admin}").body == b"content"


def test_a_refused_upload_does_not_use_its_key(keyed_push, keyed_upload):
    keyed_upload(b"", status=400)

    again = keyed_upload(b"content")

    assert 200 == again.status_int


def test_an_invalid_key_is_a_field_error(keyed_upload):
    refused = keyed_upload(b"content", key="two words", status=400)

    assert ["Idempotency-Key"] == list(refused.json["fields"])
