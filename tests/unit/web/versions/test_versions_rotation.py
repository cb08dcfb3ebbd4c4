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
def test_a_full_collection_deletes_its_oldest_versions_with_the_next_one(root, make_collection):
    """A limit that is lowered removes nothing by itself."""
    collection = make_collection(maxBackupsCount=0)
    for content in (b"1", b"22", b"333", b"4444", b"55555"):
        root.push(collection, content)
    edit(root, collection, maxBackupsCount=2)
    assert numbers(root, collection) == [1, 2, 3, 4, 5]
    shown = root.push(collection, b"6").json["collection"]
    assert numbers(root, collection) == [5, 6]
    assert (shown["stored_size"], shown["versions_count"]) == (6, 2)
    root.push(collection, b"7")
    assert numbers(root, collection) == [6, 7]


@pytest.mark.databases
def test_rotation_deletes_as_many_versions_as_the_new_size_requires(root, make_collection):
    collection = make_collection(maxOneVersionSize=10, maxCollectionSize=10)
    for content in (b"aaa", b"bbb", b"ccc", b"ddddd"):
        root.push(collection, content)

    assert numbers(root, collection) == [3, 4]


@pytest.mark.databases
def test_an_alerting_collection_is_filled_and_then_refuses_until_a_version_is_deleted(root, make_collection):
    collection = make_collection(maxBackupsCount=2, strategy=ALERT)
    assert [200, 200] == [root.push(collection, content).status_int for content in (b"1", b"2")]
    answer = root.push(collection, b"3")
    expected = refused_version("Logic validation error", 4000, COUNT, "max_backups_count_too_many", {"max": 2})
    assert (answer.status_int, answer.json) == (400, expected | {"context": {"max": 2}})
    edit(root, collection, maxBackupsCount=1)
    root.delete(f"{COLLECTIONS}/{collection}/backup/v1")
    assert root.push(collection, b"3").json["error_code"] == 4000
    root.delete(f"{COLLECTIONS}/{collection}/backup/v2")
    assert root.push(collection, b"3").json["version"]["version"] == 3


def test_an_alerting_collection_refuses_when_its_size_is_reached(root, make_collection):
    collection = make_collection(maxOneVersionSize=5, maxCollectionSize=10, strategy=ALERT)
    assert [200, 200] == [root.push(collection, content).status_int for content in (b"12345", b"54321")]
    assert root.push(collection, b"1").json == refused_version("Logic validation error", 4007, "file", EXCEEDS_ALL)


def test_the_tokens_size_limit_applies(member, collection):
    answer = member(Role.UPLOAD_VERSIONS, max_file_size=5).push(collection, b"123456")

    assert (answer.json["status"], answer.json["error_code"]) == ("File size is too big", 3001)
