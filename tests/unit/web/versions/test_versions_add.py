"""HTTP API, 4.2: adding versions, their names and numbers, rotation and refusals."""

import re
import uuid

import pytest
from sqlalchemy import update

from frepo_core.db.models import Collection
from frepo_core.domain.roles import Role
from frepo_core.error_explanations import explain
from support.answers import COUNT, HELLO
from support.client import COLLECTIONS, with_settings
from support.samples import HTML, PNG

pytestmark = pytest.mark.databases

ALERT = "alert_when_backup_limit_reached"
EXCEEDS_ONE = "new_version_exceeds_single_element_limit_specified_for_this_collection"
EXCEEDS_ALL = "new_version_makes_collection_too_big_on_disk"


def refused(status, code, field, text, context=None):
    """Return the envelope of a refusal."""
    return {
        "status": status,
        "error_code": code,
        "http_code": 400,
        "exit_code": 400,
        "field": field,
        "errors": {field: text},
        "version": None,
        "collection": None,
        "message": explain(text, context),
    }


def numbers(caller, collection):
    return [int(number) for number in caller.versions(collection)]


def shown(caller, collection):
    return caller.get(f"{COLLECTIONS}/{collection}").json["collection"]


def edit(caller, collection, **form):
    return caller.put(COLLECTIONS, {"collection": collection, **form})


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
        },
        "collection": shown(root, collection),
    }
    assert uuid.UUID(version_id).version == 4
    assert file_id > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", created.pop("date"))
    assert created == {"timezone_type": 3, "timezone": "UTC"}


def test_the_digest_is_in_a_header(root, collection):
    answer = root.push(collection, b"hello")

    assert answer.headers["Repr-Digest"] == "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"


def test_version_is_a_synonym_of_backup(root, collection):
    answer = root.call("POST", f"{COLLECTIONS}/{collection}/version", body=b"hello")

    assert answer.json["version"]["version"] == 1


def test_a_version_may_be_uploaded_by_a_form(root, collection):
    answer = root.send_form(("file", "any.txt", b"hello"), path=f"{COLLECTIONS}/{collection}/backup")

    assert answer.json["version"]["sha256"] == HELLO


def test_a_partial_dump_is_refused(root, collection):
    """`curl -C` sends the rest of an interrupted upload like this."""
    root.push(collection, b"hello")
    answer = root.push(collection, b"lo", headers={"Content-Range": "bytes 3-4/5"})

    assert (answer.status_int, numbers(root, collection)) == (400, [1])


@pytest.mark.parametrize("content_type", ["", "application/x-www-form-urlencoded", "application/json"])
def test_any_other_content_type_is_raw_content(root, collection, content_type):
    answer = root.push(collection, b"hello", headers={"Content-Type": content_type})

    assert answer.json["version"]["sha256"] == HELLO


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        ("dump.sql", "dump-v1.sql"),
        ("dump.sql.gz", "dump-v1.sql.gz"),
        ("dump.tar.gz", "dump-v1.tar.gz"),
        ("dump", "dump-v1"),
        (".htaccess", ".htaccess-v1"),
        ("my.site.tar.bz2", "my.site-v1.tar.bz2"),
        ("a b.zip", "a b-v1.zip"),
        ("db-1.2.tar.xz", "db-1.2-v1.tar.xz"),
    ],
)
def test_a_version_is_named_after_its_collection(root, make_collection, filename, expected):
    answer = root.push(make_collection(filename=filename), b"hello")

    assert answer.json["version"]["file"]["filename"] == HELLO[:10] + expected


def test_numbers_rise_by_one(root, collection):
    added = [root.push(collection, content).json["version"]["version"] for content in (b"one", b"two", b"three")]

    assert added == [1, 2, 3]


def test_the_number_of_a_deleted_version_is_not_used_again(root, collection):
    root.push(collection)
    root.delete(f"{COLLECTIONS}/{collection}/backup/v1")
    answer = root.push(collection)

    assert answer.json["version"]["version"] == 2


def test_a_refused_version_takes_no_number(root, make_collection):
    collection = make_collection(maxOneVersionSize=5)
    root.push(collection, b"too large")
    answer = root.push(collection, b"fits")

    assert answer.json["version"]["version"] == 1


def test_equal_content_is_a_new_version_with_the_same_bytes(root, collection, tmp_path):
    answers = [root.push(collection, b"hello") for _ in range(2)]

    assert [1, 2] == [answer.json["version"]["version"] for answer in answers]
    assert 1 == sum(path.is_file() for path in (tmp_path / "storage").rglob("*"))


def test_equal_content_is_counted_in_full(root, collection):
    answers = [root.push(collection, b"hello") for _ in range(2)]

    assert [5, 10] == [answer.json["collection"]["stored_size"] for answer in answers]


@with_settings(backup__duplicate_versions="refuse")
def test_equal_content_can_be_refused(root, collection):
    root.push(collection, b"hello")
    answer = root.push(collection, b"hello")

    expected = refused("Logic validation error", 4008, "file", "backup_version_uploaded_twice")
    assert (answer.status_int, answer.json) == (400, expected)


@with_settings(backup__duplicate_versions="refuse")
def test_equal_content_of_another_collection_is_accepted(root, make_collection):
    answers = [root.push(make_collection(), b"hello") for _ in range(2)]

    assert [200, 200] == [answer.status_int for answer in answers]


@with_settings(backup__duplicate_versions="refuse")
def test_equal_content_of_a_deleted_version_is_accepted(root, collection):
    root.push(collection, b"hello")
    root.delete(f"{COLLECTIONS}/{collection}/backup/v1")
    answer = root.push(collection, b"hello")

    assert answer.status_int == 200


def test_an_empty_version_is_refused(root, collection):
    answer = root.push(collection, b"")

    assert (answer.status_int, answer.json["error_code"], answer.json["version"]) == (400, 60003, None)


def test_a_wrong_digest_is_refused(root, collection):
    answer = root.push(collection, b"hello", headers={"Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="})

    assert (answer.json["error_code"], numbers(root, collection)) == (60007, [])


def test_a_version_over_the_limit_for_one_is_refused(root, make_collection):
    answer = root.push(make_collection(maxOneVersionSize=5), b"123456")

    assert (answer.status_int, answer.json) == (
        400,
        refused("Logic validation error", 4006, "file", EXCEEDS_ONE),
    )


def test_a_version_of_exactly_the_limit_fits(root, make_collection):
    answer = root.push(make_collection(maxOneVersionSize=5), b"12345")

    assert answer.status_int == 200


@pytest.mark.parametrize("strategy", [ALERT, "delete_oldest_when_adding_new"])
def test_a_version_larger_than_the_whole_collection_is_refused(root, make_collection, strategy):
    collection = make_collection(maxOneVersionSize=0, maxCollectionSize=5, strategy=strategy)
    root.push(collection, b"123")
    answer = root.push(collection, b"123456")

    assert answer.json == refused("Logic validation error", 4007, "file", EXCEEDS_ALL)
    assert numbers(root, collection) == [1]


def test_a_strategy_that_is_no_longer_installed_is_reported(root, services, make_collection, caplog):
    collection = make_collection()
    root.push(collection, b"123")
    with services.database.engine.begin() as connection:
        connection.execute(update(Collection).values(strategy="keep_first"))

    answer = root.push(collection, b"123456")

    assert (answer.status_int, answer.json["error_code"]) == (503, 7016106)
    assert answer.headers["Retry-After"] == "30"
    assert "uses the strategy 'keep_first', but no installed package provides it" in caplog.text
    assert numbers(root, collection) == [1]


def test_a_full_collection_deletes_its_oldest_version(root, make_collection):
    collection = make_collection(maxBackupsCount=2)
    for content in (b"one", b"two", b"three", b"four"):
        root.push(collection, content)

    assert numbers(root, collection) == [3, 4]


def test_rotation_deletes_the_bytes_of_old_versions(root, make_collection, tmp_path):
    collection = make_collection(maxBackupsCount=2)
    for content in (b"one", b"two", b"three", b"four"):
        root.push(collection, content)

    assert 2 == sum(path.is_file() for path in (tmp_path / "storage").rglob("*"))


def test_rotation_deletes_as_many_versions_as_the_new_size_requires(root, make_collection):
    collection = make_collection(maxOneVersionSize=10, maxCollectionSize=10)
    for content in (b"aaa", b"bbb", b"ccc", b"ddddd"):
        root.push(collection, content)

    assert numbers(root, collection) == [3, 4]


def test_rotation_counts_bytes_down(root, make_collection):
    collection = make_collection(maxBackupsCount=1)
    root.push(collection, b"12345")
    answer = root.push(collection, b"123")

    assert (answer.json["collection"]["stored_size"], answer.json["collection"]["versions_count"]) == (3, 1)


def test_after_a_limit_was_lowered_enough_versions_are_deleted_at_once(root, make_collection):
    collection = make_collection(maxBackupsCount=5)
    for content in (b"1", b"2", b"3", b"4", b"5"):
        root.push(collection, content)
    edit(root, collection, maxBackupsCount=2)
    root.push(collection, b"6")

    assert numbers(root, collection) == [5, 6]


def test_lowering_a_limit_alone_removes_nothing(root, make_collection):
    collection = make_collection(maxBackupsCount=5)
    for content in (b"1", b"2", b"3"):
        root.push(collection, content)
    edit(root, collection, maxBackupsCount=1)

    assert numbers(root, collection) == [1, 2, 3]


def test_an_alerting_collection_refuses_when_its_count_is_reached(root, make_collection):
    collection = make_collection(maxBackupsCount=1, strategy=ALERT)
    root.push(collection, b"one")
    answer = root.push(collection, b"two")

    expected = refused("Logic validation error", 4000, COUNT, "max_backups_count_too_many", {"max": 1})
    assert (answer.status_int, answer.json) == (400, expected | {"context": {"max": 1}})


def test_an_alerting_collection_refuses_when_its_size_is_reached(root, make_collection):
    collection = make_collection(maxOneVersionSize=5, maxCollectionSize=8, strategy=ALERT)
    root.push(collection, b"12345")
    answer = root.push(collection, b"1234")

    assert answer.json == refused("Logic validation error", 4007, "file", EXCEEDS_ALL)


def test_an_alerting_collection_may_be_filled_completely(root, make_collection):
    collection = make_collection(maxBackupsCount=2, maxOneVersionSize=5, maxCollectionSize=10, strategy=ALERT)
    answers = [root.push(collection, content).status_int for content in (b"12345", b"54321", b"1")]

    assert answers == [200, 200, 400]


def test_an_alerting_collection_over_a_lowered_limit_refuses(root, make_collection):
    collection = make_collection(maxBackupsCount=3, strategy=ALERT)
    for content in (b"1", b"2", b"3"):
        root.push(collection, content)
    edit(root, collection, maxBackupsCount=1)

    assert root.push(collection, b"4").json["error_code"] == 4000


def test_an_alerting_collection_accepts_more_after_a_deletion(root, make_collection):
    collection = make_collection(maxBackupsCount=1, strategy=ALERT)
    root.push(collection, b"1")
    root.delete(f"{COLLECTIONS}/{collection}/backup/v1")

    assert root.push(collection, b"2").json["version"]["version"] == 2


def test_without_a_limit_no_version_is_deleted(root, make_collection):
    collection = make_collection(maxBackupsCount=0)
    for content in (b"1", b"2", b"3", b"4"):
        root.push(collection, content)

    assert numbers(root, collection) == [1, 2, 3, 4]


def test_a_refused_version_changes_nothing(root, make_collection):
    collection = make_collection(maxBackupsCount=1, maxOneVersionSize=5)
    root.push(collection, b"one")
    before = shown(root, collection)
    root.push(collection, b"too large")

    assert before == shown(root, collection)


def test_a_refused_version_leaves_no_bytes(root, make_collection, tmp_path):
    collection = make_collection(maxBackupsCount=1, strategy=ALERT)
    root.push(collection, b"one")
    root.push(collection, b"two")

    assert 1 == sum(path.is_file() for path in (tmp_path / "storage").rglob("*"))


def test_the_tokens_size_limit_applies(member, collection):
    answer = member(Role.UPLOAD_VERSIONS, max_file_size=5).push(collection, b"123456")

    assert (answer.json["status"], answer.json["error_code"]) == ("File size is too big", 3001)


def test_the_tokens_types_apply(member, collection):
    answer = member(Role.UPLOAD_VERSIONS, mimes=["text/plain"]).push(collection, PNG)

    assert (answer.json["error_code"], answer.json["context"]) == (3000, {"mime": "image/png"})


@pytest.mark.parametrize("content", [PNG, HTML, bytes(9)])
def test_the_lists_of_the_upload_roles_do_not_apply(member, collection, content):
    answer = member(Role.UPLOAD_VERSIONS).push(collection, content)

    assert answer.status_int == 200


def test_an_upload_role_alone_adds_no_version(member, collection):
    answer = member(Role.UPLOAD_ALL).push(collection)

    assert (answer.status_int, answer.json["exit_code"], answer.json["version"]) == (403, 403, None)


def test_a_token_that_is_not_listed_adds_no_version(holder, collection):
    answer = holder(Role.UPLOAD_VERSIONS).push(collection)

    assert answer.status_int == 403


def test_modify_any_replaces_the_list(holder, collection):
    answer = holder(Role.UPLOAD_VERSIONS, Role.MODIFY_ANY_COLLECTION).push(collection)

    assert answer.status_int == 200
