"""HTTP API, 4.2: adding versions, their names and numbers, rotation and refusals."""

import re
import uuid

import pytest

from frepo_core.domain.roles import Role
from support.answers import HELLO
from support.client import COLLECTIONS, refused_version, with_settings
from support.samples import HTML, PNG


def numbers(caller, collection):
    return [int(number) for number in caller.versions(collection)]


def shown(caller, collection):
    return caller.get(f"{COLLECTIONS}/{collection}").json["collection"]


@pytest.mark.databases
def test_an_added_version_is_answered_in_its_envelope(root, collection):
    answer = root.push(collection, b"hello")
    body = answer.json
    version_id, created = body["version"].pop("id"), body["version"].pop("creation_date")
    file_id = body["version"]["file"].pop("id")

    assert answer.status_int == 200
    assert body == {
        "status": "OK",
        "error_code": None,
        "http_code": 200,
        "exit_code": 200,
        "field": None,
        "errors": None,
        "version": {
            "version": 1,
            "file": {"filename": f"{HELLO[:10]}dump-v1.sql.gz"},
            "size": 5,
            "sha256": HELLO,
            "quarantined": False,
            "quarantine_reason": None,
            "verdict": "unchecked",
            "verdict_reason": None,
        },
        "collection": shown(root, collection),
    }
    assert uuid.UUID(version_id).version == 4
    assert file_id > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", created.pop("date"))
    assert created == {"timezone_type": 3, "timezone": "UTC"}


def test_an_added_version_is_sent_in_any_of_these_ways(root, collection):
    assert root.call("POST", f"{COLLECTIONS}/{collection}/version", body=b"hello").json["version"]["version"] == 1
    answer = root.send_form(("file", "any.txt", b"hello"), path=f"{COLLECTIONS}/{collection}/backup")
    assert answer.json["version"]["sha256"] == HELLO

    for content_type in ["", "application/x-www-form-urlencoded", "application/json"]:
        answer = root.push(collection, b"hello", headers={"Content-Type": content_type})
        assert answer.json["version"]["sha256"] == HELLO, content_type


def test_a_partial_dump_is_refused(root, collection):
    """`curl -C` sends the rest of an interrupted upload like this."""
    root.push(collection, b"hello")
    answer = root.push(collection, b"lo", headers={"Content-Range": "bytes 3-4/5"})

    assert (answer.status_int, numbers(root, collection)) == (400, [1])


@pytest.mark.databases
def test_a_version_is_named_after_its_collection(root, make_collection):
    for filename, expected in [
        ("dump.sql", "dump-v1.sql"),
        ("dump.sql.gz", "dump-v1.sql.gz"),
        ("dump.tar.gz", "dump-v1.tar.gz"),
        ("dump", "dump-v1"),
        (".htaccess", ".htaccess-v1"),
        ("my.site.tar.bz2", "my.site-v1.tar.bz2"),
        ("a b.zip", "a b-v1.zip"),
        ("db-1.2.tar.xz", "db-1.2-v1.tar.xz"),
    ]:
        answer = root.push(make_collection(filename=filename), b"hello")

        assert answer.json["version"]["file"]["filename"] == HELLO[:10] + expected


@pytest.mark.databases
def test_equal_content_is_a_new_version_with_the_same_bytes_and_counted_in_full(root, collection, tmp_path):
    answers = [root.push(collection, b"hello").json for _ in range(2)]
    assert [(1, 5), (2, 10)] == [
        (answer["version"]["version"], answer["collection"]["stored_size"]) for answer in answers
    ]
    assert 1 == sum(path.is_file() for path in (tmp_path / "storage").rglob("*"))


@pytest.mark.databases
@with_settings(backup__duplicate_versions="refuse")
def test_equal_content_of_a_version_that_is_there_can_be_refused(root, collection, make_collection):
    root.push(collection, b"hello")
    answer = root.push(collection, b"hello")
    expected = refused_version("Logic validation error", 4008, "file", "backup_version_uploaded_twice")
    assert (answer.status_int, answer.json) == (400, expected)
    assert root.push(make_collection(), b"hello").status_int == 200
    root.delete(f"{COLLECTIONS}/{collection}/backup/v1")
    assert root.push(collection, b"hello").status_int == 200


def test_empty_content_and_a_wrong_digest_are_refused(root, collection):
    answer = root.push(collection, b"")
    assert (answer.status_int, answer.json["error_code"], answer.json["version"]) == (400, 60003, None)
    answer = root.push(collection, b"hello", headers={"Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="})
    assert (answer.json["error_code"], numbers(root, collection)) == (60007, [])


@pytest.mark.databases
def test_a_refused_version_changes_nothing(root, make_collection):
    collection = make_collection(maxBackupsCount=1, maxOneVersionSize=5)
    root.push(collection, b"one")
    before = shown(root, collection)
    root.push(collection, b"too large")

    assert before == shown(root, collection)


def test_the_tokens_types_apply_and_not_the_lists_of_upload_roles(member, collection):
    answer = member(Role.UPLOAD_VERSIONS, mimes=["text/plain"]).push(collection, PNG)
    assert (answer.json["error_code"], answer.json["context"]) == (3000, {"mime": "image/png"})
    for content in [PNG, HTML, bytes(9)]:
        assert member(Role.UPLOAD_VERSIONS).push(collection, content).status_int == 200, content


def test_a_version_is_added_by_the_role_and_the_list_or_modify_any(member, collection, holder):
    answer = member(Role.UPLOAD_ALL).push(collection)
    assert (answer.status_int, answer.json["exit_code"], answer.json["version"]) == (403, 403, None)
    assert holder(Role.UPLOAD_VERSIONS).push(collection).status_int == 403
    assert holder(Role.UPLOAD_VERSIONS, Role.MODIFY_ANY_COLLECTION).push(collection).status_int == 200
