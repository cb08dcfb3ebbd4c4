"""HTTP API, 4.1: creating and showing collections."""

import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.domain.roles import Role
from support.answers import CHOSEN, COUNT, GONE, SMALL
from support.client import COLLECTIONS


def test_a_created_collection_is_answered_in_its_envelope(root):
    answer = root.create(description="nightly", filename="dump.sql.gz", **SMALL)
    body = answer.json
    created, collection_id = body["collection"].pop("created_at"), body["collection"].pop("id")

    assert answer.status_int == 202
    assert body == {
        "status": "OK",
        "error_code": None,
        "http_code": 202,
        "exit_code": 202,
        "errors": {},
        "collection": {
            "max_backups_count": 5,
            "max_one_backup_version_size": 5_000_000,
            "max_collection_size": 25_000_000,
            "strategy": "delete_oldest_when_adding_new",
            "description": "nightly",
            "filename": "dump.sql.gz",
            "versions_count": 0,
            "stored_size": 0,
            "last_version": 0,
            "password_protected": False,
            "min_retention": None,
            "min_version_size": 0,
            "max_shrink_percent": 0,
            "on_suspicious": "refuse",
            "storage": None,
            "mirror": None,
        },
        "context": None,
    }
    assert uuid.UUID(collection_id).version == 4
    assert (created["timezone_type"], created["timezone"]) == (3, "UTC")


@pytest.mark.databases
def test_the_date_is_utc_with_six_digits(root):
    date = root.create().json["collection"]["created_at"]["date"]

    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", date)
    assert abs(datetime.fromisoformat(date).replace(tzinfo=UTC) - datetime.now(UTC)) < timedelta(seconds=30)


def test_an_id_can_be_chosen(root):
    assert root.create(id=CHOSEN.upper()).json["collection"]["id"] == CHOSEN


def test_choosing_an_id_needs_its_role(holder):
    assert holder(Role.CREATE_COLLECTIONS).create(id=CHOSEN).status_int == 403


def test_the_role_chooses_an_id(holder):
    assert holder(Role.CREATE_COLLECTIONS, Role.CHOOSE_COLLECTION_IDS).create(id=CHOSEN).status_int == 202


@pytest.mark.databases
def test_a_taken_id_is_refused(root):
    for again in [CHOSEN, CHOSEN.upper()]:
        root.create(id=CHOSEN)
        answer = root.create(id=again)

        assert (answer.status_int, answer.json["fields"]) == (400, {"id": ["id_not_unique"]}), again


def test_simulated_creation_answers_the_same(root):
    bodies = [root.create(query, id=CHOSEN, **SMALL).json for query in ({"simulate": "true"}, {})]
    for body in bodies:
        del body["collection"]["created_at"]

    assert bodies[0] == bodies[1]


def test_a_simulated_creation_creates_nothing_and_is_checked(root):
    root.create({"simulate": "true"}, id=CHOSEN)
    assert root.get(f"{COLLECTIONS}/{CHOSEN}").json["fields"] == GONE
    root.create(id=CHOSEN)
    assert [root.create({"simulate": "1"}, **form).status_int for form in ({"id": CHOSEN}, {COUNT: -1})] == [400, 400]


def test_the_creators_token_is_on_the_list(holder):
    creator = holder(Role.CREATE_COLLECTIONS)
    made = creator.create().json["collection"]["id"]

    assert creator.get(f"{COLLECTIONS}/{made}").status_int == 200


@pytest.mark.databases
def test_a_fetched_collection_is_what_was_created(root):
    made = root.create(**SMALL).json["collection"]
    answer = root.get(f"{COLLECTIONS}/{made['id'].upper()}")

    assert answer.status_int == 200
    assert answer.json == {
        "status": "OK",
        "error_code": None,
        "http_code": 200,
        "exit_code": 200,
        "errors": {},
        "collection": made,
        "context": None,
    }


def test_the_answer_shows_neither_password_nor_tokens(root):
    made = root.create(password="hidden-5ecre7").json["collection"]
    answer = root.get(f"{COLLECTIONS}/{made['id']}")

    assert answer.json["collection"]["password_protected"] is True
    assert not any(secret in answer.text for secret in ("5ecre7", "argon2", root.token))


def test_a_token_that_is_not_listed_may_not_fetch(holder, collection):
    answer = holder(Role.CREATE_COLLECTIONS).get(f"{COLLECTIONS}/{collection}")

    assert (answer.status_int, answer.json["collection"], answer.json["errors"]) == (403, None, {})


@pytest.mark.databases
def test_a_collection_counts_what_it_holds(root, collection):
    root.push(collection, b"12345")
    root.push(collection, b"123")
    held = root.get(f"{COLLECTIONS}/{collection}").json["collection"]

    assert (held["versions_count"], held["stored_size"], held["last_version"]) == (2, 8, 2)
