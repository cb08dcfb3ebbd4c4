"""HTTP API, 4.2: limits, rotation, and refusals of full collections."""

import pytest
from sqlalchemy import update

from frepo_core.db.models import Collection
from frepo_core.domain.roles import Role
from support.answers import COUNT
from support.client import COLLECTIONS, refused_version

ALERT = "alert_when_backup_limit_reached"
EXCEEDS_ONE = "new_version_exceeds_single_element_limit_specified_for_this_collection"
EXCEEDS_ALL = "new_version_makes_collection_too_big_on_disk"


def numbers(caller, collection):
    return [int(number) for number in caller.versions(collection)]


def edit(caller, collection, **form):
    return caller.put(COLLECTIONS, {"collection": collection, **form})


def test_a_version_may_have_exactly_the_limit_for_one(root, make_collection):
    answer = root.push(make_collection(maxOneVersionSize=5), b"123456")
    assert (answer.status_int, answer.json) == (
        400,
        refused_version("Logic validation error", 4006, "file", EXCEEDS_ONE),
    )

    assert root.push(make_collection(maxOneVersionSize=5), b"12345").status_int == 200


def test_a_version_larger_than_the_whole_collection_is_refused(root, make_collection):
    for strategy in [ALERT, "delete_oldest_when_adding_new"]:
        collection = make_collection(maxOneVersionSize=0, maxCollectionSize=5, strategy=strategy)
        root.push(collection, b"123")
        answer = root.push(collection, b"123456")

        assert answer.json == refused_version("Logic validation error", 4007, "file", EXCEEDS_ALL), strategy
        assert numbers(root, collection) == [1], strategy


def test_a_strategy_that_is_no_longer_installed_is_reported_by_one_line(root, services, make_collection, caplog):
    collection = make_collection()
    root.push(collection, b"123")
    with services.database.engine.begin() as connection:
        connection.execute(update(Collection).values(strategy="keep_first"))

    caplog.clear()
    answer = root.push(collection, b"123456")

    assert (answer.status_int, answer.json["error_code"]) == (503, 7016106)
    assert answer.headers["Retry-After"] == "30"
    (line,) = caplog.records
    assert f"The collection {collection} uses the strategy 'keep_first', but no installed package" in line.getMessage()
    assert line.exc_info is None
    assert numbers(root, collection) == [1]


@pytest.mark.databases
def test_a_full_collection_deletes_its_oldest_version(root, make_collection):
    collection = make_collection(maxBackupsCount=2)
    for content in (b"one", b"two", b"three", b"four"):
        root.push(collection, content)

    assert numbers(root, collection) == [3, 4]


@pytest.mark.databases
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


@pytest.mark.databases
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

    expected = refused_version("Logic validation error", 4000, COUNT, "max_backups_count_too_many", {"max": 1})
    assert (answer.status_int, answer.json) == (400, expected | {"context": {"max": 1}})


def test_an_alerting_collection_refuses_when_its_size_is_reached(root, make_collection):
    collection = make_collection(maxOneVersionSize=5, maxCollectionSize=8, strategy=ALERT)
    root.push(collection, b"12345")
    answer = root.push(collection, b"1234")

    assert answer.json == refused_version("Logic validation error", 4007, "file", EXCEEDS_ALL)


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


@pytest.mark.databases
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


def test_the_tokens_size_limit_applies(member, collection):
    answer = member(Role.UPLOAD_VERSIONS, max_file_size=5).push(collection, b"123456")

    assert (answer.json["status"], answer.json["error_code"]) == ("File size is too big", 3001)
