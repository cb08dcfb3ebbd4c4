"""Idempotency-Key: an upload whose answer was lost can be repeated."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import Event, StoredObject, Upload
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

    assert 4016 == keyed_upload(b"other content", status=422).json["error_code"]


def test_another_key_is_another_upload(keyed_upload):
    keyed_upload(b"content")

    assert 202 == keyed_upload(b"content", key="k2").status_int


@pytest.mark.databases
def test_keys_of_two_tokens_are_independent(keyed_upload, make_token):
    keyed_upload(b"content")

    assert 200 == keyed_upload(b"other content", token=make_token(Role.UPLOAD_ALL)).status_int


def test_the_successor_of_a_token_gets_the_answers_of_the_first(keyed_upload, services, make_token):
    token = make_token(Role.UPLOAD_ALL)
    first = keyed_upload(b"content", token=token).json
    fingerprint = services.tokens.fingerprint(token)
    for _ in range(2):
        done = services.token_changes.rotate(fingerprint, timedelta(days=1))
        fingerprint = done.new.fingerprint

    assert first == keyed_upload(b"content", token=done.id).json


@pytest.mark.databases
@pytest.mark.parametrize(("age", "status"), [(timedelta(days=13), 422), (timedelta(days=15), 200)])
def test_a_key_expires_after_two_weeks(keyed_upload, services, age, status):
    keyed_upload(b"content")
    then = utc_now() - age
    services.database.write(lambda session: session.execute(update(Upload).values(created_at=then)))

    assert status == keyed_upload(b"other content", status=status).status_int


@pytest.mark.databases
def test_a_repeated_version_is_one_version(keyed_push):
    first = keyed_push(b"dump")

    again = keyed_push(b"dump")

    assert first.json == again.json
    assert 1 == again.json["collection"]["last_version"]


@pytest.mark.databases
def test_a_version_that_was_rotated_out_is_not_added_again(keyed_push, root, collection):
    first = keyed_push(b"dump").json
    keyed_push(b"next dump", key="k2")

    assert first | {"removed": True} == keyed_push(b"dump").json
    assert ["2"] == list(root.get(f"/repository/collection/{collection}/backup").json["versions"])


def test_a_version_that_was_restored_from_the_trash_is_not_called_removed(root, make_collection, push):
    collection = make_collection(maxBackupsCount=3)
    first = push(collection, b"dump", Idempotency_Key="k1").json
    root.delete(f"/repository/collection/{collection}/backup/v1")
    assert 201 == root.post(f"/api/v1/collections/{collection}/trash/1/restore", {}).status_int

    assert first == push(collection, b"dump", Idempotency_Key="k1").json


@pytest.mark.databases
def test_a_file_that_was_deleted_is_not_stored_again(app, admin, keyed_upload):
    first = keyed_upload(b"content").json
    app.delete(f"/repository/file/{first['filename']}?_token={admin}")

    assert first | {"removed": True} == keyed_upload(b"content").json
    assert 404 == app.get(f"/repository/file/{first['filename']}?_token={admin}", status=404).status_int


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


@pytest.mark.databases
def test_damaged_content_is_stored_again(app, admin, keyed_upload, services):
    first = keyed_upload(b"content").json
    services.database.write(
        lambda session: session.execute(update(StoredObject).values(state="damaged", since=utc_now()))
    )

    assert first == keyed_upload(b"content").json
    assert b"content" == app.get(f"/repository/file/{first['filename']}?_token={admin}").body
    assert is_sound(services)


@pytest.mark.databases
def test_a_damaged_version_is_healed_and_stays_the_same(app, admin, keyed_push, services):
    first = keyed_push(b"dump").json
    services.database.write(
        lambda session: session.execute(update(StoredObject).values(state="damaged", since=utc_now()))
    )

    assert first == keyed_push(b"dump").json
    assert is_sound(services)


def is_sound(services):
    """Return whether nothing is damaged any more, and the one damage was healed with an event."""
    with services.database.reading() as session:
        healed = session.scalars(select(Event.kind).where(Event.kind == "blob.healed")).all()
        return healed == ["blob.healed"] and session.scalars(
            select(StoredObject.state).where(StoredObject.slot == 1)
        ).all() == ["present"]


def test_a_refused_upload_does_not_use_its_key(keyed_push, keyed_upload):
    keyed_upload(b"", status=400)

    assert 200 == keyed_upload(b"content").status_int


def test_an_invalid_key_is_a_field_error(keyed_upload):
    assert ["Idempotency-Key"] == list(keyed_upload(b"content", key="two words", status=400).json["fields"])
