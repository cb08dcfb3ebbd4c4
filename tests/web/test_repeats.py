"""Idempotency-Key: an upload whose answer got lost can be sent again."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Upload
from frepo_core.domain.roles import Role


@pytest.fixture
def upload(app, admin):
    def upload(content, key="k1", name="a.txt", status=None, token=admin):
        return app.post(
            f"/repository/file/upload?fileName={name}&_token={token}",
            content,
            content_type="application/octet-stream",
            headers={"Idempotency-Key": key},
            status=status,
        )

    return upload


@pytest.fixture
def collection(app, admin):
    body = {"filename": "db.sql", "maxBackupsCount": 1}
    return app.post_json(f"/repository/collection?_token={admin}", body).json["collection"]["id"]


@pytest.fixture
def push(app, admin, collection):
    def push(content, key="k1", status=200):
        return app.post(
            f"/repository/collection/{collection}/backup?_token={admin}",
            content,
            content_type="application/octet-stream",
            headers={"Idempotency-Key": key},
            status=status,
        )

    return push


def test_a_repeated_upload_gets_the_first_answer_again(upload):
    first = upload(b"content")

    again = upload(b"content")

    assert (first.status, first.json) == (again.status, again.json)
    assert first.headers["Repr-Digest"] == again.headers["Repr-Digest"]


def test_the_same_key_with_other_content_is_refused_with_422(upload):
    upload(b"content")

    refused = upload(b"other content", status=422)

    assert 4016 == refused.json["error_code"]


def test_another_key_is_another_upload(upload):
    upload(b"content")

    again = upload(b"content", key="k2")

    assert 202 == again.status_int


def test_keys_of_two_tokens_have_nothing_to_do_with_each_other(upload, make_token):
    upload(b"content")

    other = upload(b"other content", token=make_token(Role.UPLOAD_ALL))

    assert 200 == other.status_int


def test_a_key_is_forgotten_after_a_day(upload, services):
    upload(b"content")
    day_ago = utc_now() - timedelta(hours=25)
    services.database.write(lambda session: session.execute(update(Upload).values(created_at=day_ago)))

    again = upload(b"other content")

    assert 200 == again.status_int


def test_a_repeated_version_is_one_version(push):
    first = push(b"dump")

    again = push(b"dump")

    assert first.json == again.json
    assert 1 == again.json["collection"]["last_version"]


def test_a_repeated_version_gets_its_answer_even_when_it_was_rotated_out(push):
    first = push(b"dump")
    push(b"next dump", key="k2")

    again = push(b"dump")

    assert first.json == again.json


def test_a_refused_upload_leaves_its_key_free(push, upload):
    upload(b"", status=400)

    again = upload(b"content")

    assert 200 == again.status_int


def test_a_key_that_cannot_be_one_is_a_field_error(upload):
    refused = upload(b"content", key="two words", status=400)

    assert ["Idempotency-Key"] == list(refused.json["fields"])
