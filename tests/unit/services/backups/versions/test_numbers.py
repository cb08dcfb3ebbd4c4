"""Version numbers rise by one with each accepted version and are never used twice."""

import pytest

from frepo_core.domain.limits import ONE
from frepo_core.errors import RuleError, StorageUnavailable
from frepo_core.testing import Fail

pytestmark = pytest.mark.databases


def test_the_number_of_a_deleted_newest_version_is_not_used_again(services, make_collection, push, numbers):
    collection = make_collection()
    push(collection, b"one")
    push(collection, b"two")
    services.versions.delete(collection, "v2")
    push(collection, b"three")

    assert [1, 3] == numbers(collection)


def test_an_emptied_collection_continues_its_numbers(services, make_collection, push, numbers):
    collection = make_collection()
    for content in (b"one", b"two"):
        push(collection, content)
    for name in ("v1", "v2"):
        services.versions.delete(collection, name)
    push(collection, b"three")

    assert [3] == numbers(collection)


def test_a_refused_or_failed_version_takes_no_number(wrap, make_collection, push, numbers):
    collection = make_collection(3, limits={ONE: 10})
    push(collection, b"one")
    with pytest.raises(RuleError):
        push(collection, b"x" * 11)
    wrap(Fail("store"))
    with pytest.raises(StorageUnavailable):
        push(collection, b"failed")
    push(collection, b"two")

    assert [1, 2] == numbers(collection)


def test_the_same_content_again_gets_a_new_number(make_collection, push, numbers):
    collection = make_collection()
    for _ in range(3):
        push(collection, b"same")

    assert [1, 2, 3] == numbers(collection)


def test_concurrent_pushes_into_one_collection_get_consecutive_numbers(make_collection, push, at_once, numbers):
    collection = make_collection(3)
    added = at_once(lambda number: push(collection, f"night {number}".encode()), range(10))

    assert list(range(1, 11)) == sorted(one.version.number for one in added)
    assert [8, 9, 10] == numbers(collection)


def test_the_counters_of_a_collection_match_its_versions(services, make_collection, push, at_once):
    collection = make_collection(3)
    at_once(lambda number: push(collection, b"x" * (number + 1)), range(10))
    services.versions.delete(collection, "v9")
    facts, versions = services.collections.get(collection), services.versions.list(collection)

    assert (10, 2, sum(version.file.blob.size for version in versions)) == (
        facts.last_number,
        facts.versions_count,
        facts.stored_size,
    )
