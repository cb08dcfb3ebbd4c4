"""The release of a version from quarantine."""

from datetime import timedelta

import pytest

from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.errors import CollectionFullError, TooManyVersionsError, VersionTooYoungError
from support.model.quarantine import GOOD, GUARDS, RELEASE, SHRANK, SMALL


@pytest.mark.databases
def test_a_released_version_is_a_normal_one_and_rotation_runs(
    services, collection, push, numbers, row, events, edit, keys
):
    push(collection, SMALL)
    released = edit(collection, 3, RELEASE)
    found = row(collection)

    assert [2, 3] == numbers(collection)
    assert (None, None, False) == (released.quarantined_at, released.quarantine_reason, released.is_suspicious)
    assert (2, len(GOOD) + 1 + len(SMALL), 0, 0) == (
        found.versions_count,
        found.stored_size,
        found.quarantined_count,
        found.quarantined_size,
    )
    assert (released.created_at, None) == (found.arrived_at, found.suspicious_since)
    assert 3 == len(keys())  # that of the evicted one, too: it is in the trash
    (evicted,), (event,) = events(collection, "version.evicted"), events(collection, "version.released")
    assert (1, 3) == (evicted["number"], evicted["replaced_by"])
    assert (3, SHRANK) == (event["number"], event["reason"])
    assert 3 == services.versions.find(collection, "latest").number
    # It is the new normal: later versions are compared with it.
    assert push(collection, SMALL).version.quarantined_at is None


def test_a_release_is_refused_without_room(make_collection, push, push_sized, numbers, edit, row):
    collection = make_collection(1, guards=GUARDS | {"min_retention": timedelta(days=1)})
    push(collection, GOOD)
    push_sized(collection, SMALL)

    with pytest.raises(VersionTooYoungError):
        edit(collection, 2, RELEASE)

    assert [1, 2] == numbers(collection)
    assert (1, 1) == (row(collection).versions_count, row(collection).quarantined_count)


def test_a_release_never_evicts_the_newest_version_for_an_older_one(
    make_collection, push, push_sized, numbers, edit, row
):
    for limits, error in [({COUNT: 1}, TooManyVersionsError), ({COUNT: 0, ONE: 30, TOTAL: 30}, CollectionFullError)]:
        collection = make_collection(guards=GUARDS, limits=limits)
        push(collection, GOOD)
        push_sized(collection, b"halved dump")
        push(collection, GOOD + b"3")

        with pytest.raises(error):
            edit(collection, 2, RELEASE)

        assert [2, 3] == numbers(collection), limits
        assert (1, 1) == (row(collection).versions_count, row(collection).quarantined_count), limits


def test_an_older_release_does_not_change_the_last_arrival(collection, push, edit, row):
    push(collection, SMALL)
    last = push(collection, GOOD + b"3").version
    edit(collection, 3, RELEASE)

    assert last.created_at == row(collection).arrived_at


def test_a_second_release_changes_nothing(collection, push, edit, row, events):
    push(collection, SMALL)
    edit(collection, 3, RELEASE)
    edit(collection, 3, RELEASE)

    assert (2, 0, 1) == (
        row(collection).versions_count,
        row(collection).quarantined_count,
        len(events(collection, "version.released")),
    )
