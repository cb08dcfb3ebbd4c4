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
