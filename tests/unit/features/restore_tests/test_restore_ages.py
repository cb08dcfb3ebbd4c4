"""The age of restore tests: whose turn it is, and which collections were not tested for too long."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Collection
from frepo_core.features.restore_tests.feature import RestoreTestServices
from frepo_core.features.restore_tests.nightly_tests import find_waiting
from frepo_core.services.reports.restore_ages import RestoreCounts

DAY = timedelta(days=1)


@pytest.fixture
def test(services):
    """Restore-test a collection with a command."""
    return lambda collection, command="cat": services.feature(RestoreTestServices).tests.run(
        services.collections.get(collection), command=command, by=None
    )


@pytest.fixture
def make(services, make_collection, push):
    """Make a collection with a version; the values are those of its row."""

    def make(**values):
        collection = make_collection(5)
        push(collection, b"content")
        if values:
            row = update(Collection).where(Collection.id == collection).values(**values)
            services.database.write(lambda session: session.execute(row))
        return collection

    return make


@pytest.fixture
def waiting(services):
    """Return the collections that wait for a test since now plus a time; by default, since tomorrow."""
    return lambda since=DAY: list(find_waiting(services.database, utc_now() + since, every=30 * DAY))


@pytest.fixture
def untested(services):
    def untested(limit=20):
        found = services.restore_ages.find_untested(limit)
        return found.number, [collection.id for collection in found.collections]

    return untested


@pytest.mark.databases
def test_those_that_were_never_tested_come_first_then_the_one_tested_longest_ago(make, make_collection, waiting):
    now = utc_now()
    newer, older = (make(restore_tried_at=now - days * DAY, restore_outcome="not checked") for days in (1, 2))
    make_collection(5)
    never = make()

    assert [never, older, newer] == waiting()


@pytest.mark.databases
def test_one_with_a_good_test_comes_after_the_others_until_it_is_old(make, waiting):
    now = utc_now()
    good = {"restore_outcome": "good", "arrived_at": now}
    recent = make(restore_tried_at=now - 10 * DAY, restore_tested_at=now - 10 * DAY, **good)
    broken = make(restore_tried_at=now - 2 * DAY, restore_outcome="broken")
    old = make(restore_tried_at=now - 31 * DAY, restore_tested_at=now - 31 * DAY, **good)

    assert [old, broken, recent] == waiting()


@pytest.mark.databases
def test_one_without_a_new_version_since_its_good_test_does_not_wait_until_that_is_old(
    services, make, test, push, waiting
):
    collection, failed = make(), make()
    test(collection)
    test(failed, "false")

    assert [failed] == waiting()
    push(collection, b"a new version")
    assert [failed, collection] == waiting()
    assert [] == waiting(-DAY), "both were tested since then"
    test(collection)
    long_ago = utc_now() - 31 * DAY
    row = update(Collection).where(Collection.id == collection)
    services.database.write(lambda session: session.execute(row.values(restore_tested_at=long_ago)))
    assert {failed, collection} == set(waiting())


@pytest.mark.databases
def test_the_last_outcome_stays_when_its_version_is_deleted(services, make, make_collection, push, sender, test):
    assert RestoreCounts(never=0, good=0, broken=0, unknown=0) == services.restore_ages.count()
    make_collection(5)
    first, second, _ = make(), make(), make()
    assert RestoreCounts(never=3, good=0, broken=0, unknown=0) == services.restore_ages.count()

    test(first)
    test(second, "sh -c 'cat; exit 3'")
    push(first, b"newer")
    services.versions.delete(first, "v1", by=sender)

    assert RestoreCounts(never=1, good=1, broken=1, unknown=0) == services.restore_ages.count()


def test_a_test_that_is_not_good_leaves_the_time_of_the_last_good_one(services, make, test, push):
    collection = make()
    test(collection)
    good = services.collections.get(collection)
    push(collection, b"newer")
    test(collection, "false")

    found = services.collections.get(collection)
    assert "good" == good.restore_outcome
    assert good.restore_tested_at == good.restore_tried_at == found.restore_tested_at
    assert "broken" == found.restore_outcome
    assert found.restore_tried_at > found.restore_tested_at


class TestUntested:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"restore_tests.command": "cat"}

    @pytest.mark.databases
    def test_those_whose_last_good_test_is_too_old_are_found_the_longest_first(self, services, make, untested):
        now = utc_now()
        make()
        make(restore_tested_at=now - 29 * DAY)
        old, older = (make(restore_tested_at=now - days * DAY) for days in (31, 41))
        never = make(created_at=now - 32 * DAY)
        make(created_at=now - 32 * DAY, versions_count=0)

        assert (3, [never, older, old]) == untested()
        assert (3, [never]) == untested(1)
        assert 30 * DAY == services.restore_ages.find_untested(1).every

    class TestWithoutACommand:
        @pytest.fixture
        def ini(self, ini):
            return ini | {"restore_tests.command": "", "restore_tests.every": "10d"}

        def test_only_those_that_were_tested_once_are_found(self, make, untested):
            now = utc_now()
            make(created_at=now - 32 * DAY)
            old = make(restore_tested_at=now - 11 * DAY)

            assert (1, [old]) == untested()
