"""Policies are asked before each upload, deletion and download of a version, and their refusal changes nothing."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.domain.roles import Role
from frepo_core.errors import PolicyRefusedError
from frepo_core.plugins import PolicyRefusal
from support.client import Client

V1 = "/api/v1/collections"
REASON = "The door is closed"


def refuse(request):
    raise PolicyRefusal(REASON)


@pytest.fixture
def asked(doorkeeper, collection):
    """What the policy is asked from now on."""
    doorkeeper.asked.clear()
    return doorkeeper


def test_a_refused_upload_stores_nothing_and_says_why_in_both_apis(root, services, collection, asked, caplog):
    asked.decide = refuse

    first = root.push(collection, b"two")
    second = root.call("PUT", f"{V1}/{collection}/versions", body=b"two")

    assert (400, 4025, {"version": "a_policy_refused_the_request"}) == (
        first.status_int,
        first.json["error_code"],
        first.json["errors"],
    )
    assert {"policy": "door", "message": REASON} == first.json["context"]
    assert (409, 4025, f"The policy door refuses this: {REASON}") == (
        second.status_int,
        second.json["code"],
        second.json["detail"],
    )
    assert ["1"] == [*root.versions(collection)]
    assert REASON in caplog.text
    with services.database.reading() as session:
        (data,) = session.scalars(select(Event.data).where(Event.kind == "version.refused"))
    assert ("a_policy_refused_the_request", 4025) == (data["reason"], data["error"])


def test_a_policy_is_told_what_is_asked_for(root, collection, asked, services):
    root.push(collection, b"second")
    root.get(f"{V1}/{collection}/versions/v1/content")
    root.delete(f"{V1}/{collection}/versions/v1")

    assert [("upload", None, 6), ("download", 1, 3), ("delete", 1, None)] == asked.questions(
        "action", "version", "size"
    )
    assert {services.tokens.fingerprint(root.token)} == {request.actor for request in asked.asked}
    assert {(collection, "dump.sql.gz")} == {(one.collection.id, one.collection.name) for one in asked.asked}
    assert [True] * 3 == [one.at.tzinfo is not None for one in asked.asked]


def test_a_refused_deletion_and_a_refused_download_change_nothing(root, collection, asked, caplog):
    link = root.get(f"/repository/collection/{collection}/backup/v1").location
    asked.decide = refuse

    answers = [
        root.get(link.removeprefix("http://localhost:80")),
        root.get(f"{V1}/{collection}/versions/v1/content"),
        root.delete(f"{V1}/{collection}/versions/v1"),
        root.delete(f"/repository/collection/{collection}/backup/v1"),
        root.delete(f"{V1}/{collection}", {"versions": "trash"}),
    ]

    assert [400, 409, 409, 400, 409] == [answer.status_int for answer in answers]
    assert ["1"] == [*root.versions(collection)]
    assert "the download of version v1 by token" in caplog.text
    assert "the deletion of all versions by token" in caplog.text


def test_what_is_in_the_trash_ends_only_if_the_policy_allows_it(root, collection, asked):
    root.delete(f"{V1}/{collection}/versions/v1")
    asked.decide = refuse

    one = root.delete(f"{V1}/{collection}/trash/1")
    everything = root.delete(f"{V1}/{collection}/trash")

    assert (409, 409) == (one.status_int, everything.status_int)
    assert [("delete", 1), ("delete", 1), ("delete", None)] == asked.questions("action", "version")
    assert 1 == len(root.get(f"{V1}/{collection}/trash").json["items"])


def test_a_deleted_collection_ends_only_if_the_policy_allows_it(root, collection, asked):
    root.delete(f"{V1}/{collection}", {"versions": "trash"})
    asked.decide = refuse

    answer = root.delete(f"/api/v1/deleted-collections/{collection}")

    assert 409 == answer.status_int
    assert ("delete", None, "dump.sql.gz") == (
        *asked.questions("action", "version")[-1],
        asked.asked[-1].collection.name,
    )
    assert 1 == len(root.get("/api/v1/deleted-collections").json["items"])


def test_a_link_is_decided_about_when_it_is_used_without_a_token(app, root, collection, asked):
    link = root.get(f"/repository/collection/{collection}/backup/v1").location

    assert b"one" == Client(app).get(link.removeprefix("http://localhost:80")).body
    assert [("download", "anonymous")] == asked.questions("action", "actor")


def test_files_that_are_no_versions_are_not_asked_about(root, asked):
    name = root.upload(b"a file").json["filename"]
    root.download(name)
    root.delete(f"/repository/file/{name}")

    assert [] == asked.asked


def test_a_repeated_upload_gets_its_recorded_answer_though_the_policy_would_refuse_it(root, collection, asked):
    key = {"Idempotency-Key": "a-key"}
    first = root.push(collection, b"two", headers=key)
    asked.decide = refuse

    second = root.push(collection, b"two", headers=key)
    other = root.push(collection, b"three", headers={"Idempotency-Key": "another-key"})

    assert (200, first.json) == (second.status_int, second.json)
    assert 4025 == other.json["error_code"]
    assert [("upload", 3), ("upload", 5)] == asked.questions("action", "size")


def test_an_upload_of_unknown_size_is_asked_about_again_with_its_size(root, collection, asked):
    answer = root.send_form(("file", "a.sql", b"four"), path=f"/repository/collection/{collection}/backup")

    assert 200 == answer.status_int
    assert 4 == asked.asked[-1].size


def test_a_client_without_the_role_learns_nothing_of_the_policy(app, make_token, collection, asked):
    asked.decide = refuse

    answer = Client(app, make_token(Role.UPLOAD_VERSIONS)).push(collection, b"two")

    assert (403, []) == (answer.status_int, asked.asked)


def test_evictions_are_not_asked_about(root, doorkeeper):
    full = root.create(maxBackupsCount=1).json["collection"]["id"]
    root.push(full, b"one")
    doorkeeper.decide = lambda request: refuse(request) if request.action == "delete" else None

    assert 200 == root.push(full, b"two").status_int
    assert ["2"] == [*root.versions(full)]


def test_the_console_is_asked_about_as_well(services, collection, asked):
    asked.decide = refuse

    with pytest.raises(PolicyRefusedError):
        services.versions.delete(collection, "v1")

    assert [("delete", 1, "")] == asked.questions("action", "version", "address")
    assert asked.asked[0].actor.startswith("console:")
