"""One process at a time holds a lease; whoever stops renewing it loses it."""

import pytest
from sqlalchemy import update

from frepo_core.db.models import Lease as LeaseRow

pytestmark = pytest.mark.databases


def poll(clock, lease, seconds):
    """Try as often as a worker does; return the seconds until the lease was held, None if it never was."""
    start = clock.seconds
    while clock.seconds <= start + seconds:
        if lease.try_acquire():
            return clock.seconds - start
        clock.wait(lease.terms.poll)
    return None


@pytest.fixture
def first(make_lease):
    lease = make_lease("first")
    assert lease.try_acquire()
    return lease


@pytest.fixture
def second(make_lease):
    return make_lease("second")


def test_a_free_lease_is_taken_at_once_and_by_one(first, second):
    assert (True, 1) == (first.is_held, first.epoch)
    assert not second.try_acquire()


def test_a_lease_that_is_renewed_is_kept(clock, first, second):
    for _ in range(20):
        clock.wait(10)
        assert first.renew()
        assert not second.try_acquire()


@pytest.mark.parametrize("since_last_try", [0, 1, 2.9])
def test_a_lease_that_is_not_renewed_is_taken_within_forty_seconds(clock, first, second, since_last_try):
    assert not second.try_acquire()
    clock.wait(since_last_try)
    first.renew()
    clock.wait(second.terms.poll - since_last_try)

    assert 30 <= second.terms.poll - since_last_try + poll(clock, second, 60) <= 35
    assert (2, True) == (second.epoch, second.is_held)


def test_a_released_lease_is_taken_at_once(first, second):
    first.release()

    assert second.try_acquire()


def test_a_holder_does_not_count_on_a_lease_whose_time_is_over(clock, first):
    clock.wait(29)
    assert first.is_held
    clock.wait(2)
    assert not first.is_held


def test_a_frozen_holder_learns_that_it_lost_the_lease(clock, first, second):
    poll(clock, second, 60)

    assert not first.renew()
    assert (0, False) == (first.epoch, first.is_held)
    first.release()
    assert second.renew()


def test_a_frozen_holder_whose_lease_nobody_took_keeps_it(clock, first):
    clock.wait(500)

    assert first.renew()
    assert (1, True) == (first.epoch, first.is_held)


def test_a_database_that_is_restored_under_the_holder_skips_an_epoch(services, clock, first):
    """What the holder remembers of its epoch is not true in the restored database, so no next epoch may continue it."""
    row = {name: getattr(first._row(), name) for name in ("holder", "epoch", "renewals", "expires_at")}
    for _ in range(3):
        clock.wait(10)
        first.renew()
    services.database.execute(update(LeaseRow).values(row))

    assert not first.renew()
    assert not first.is_held
    assert first.try_acquire()
    assert 3 == first.epoch
    assert first.renew()


def test_a_clock_that_jumps_forward_takes_the_lease_from_nobody(clock, first, second):
    assert not second.try_acquire()
    clock.jump(days=400)

    for _ in range(10):
        assert not second.try_acquire()
        clock.wait(5)
        first.renew()


@pytest.mark.parametrize("since_last_try", [0, 1, 2.9])
def test_a_clock_that_was_set_back_does_not_keep_a_dead_holder_alive(clock, first, second, since_last_try):
    second.try_acquire()
    clock.wait(since_last_try)
    first.renew()
    clock.jump(days=-400)
    clock.wait(second.terms.poll - since_last_try)

    assert 30 <= second.terms.poll - since_last_try + poll(clock, second, 60) <= 40


def test_of_two_that_find_an_abandoned_lease_one_gets_it(clock, first, second, make_lease):
    third = make_lease("third")
    for _ in range(6):
        assert not (second.try_acquire() or third.try_acquire())
        clock.wait(5)
    clock.wait(5)

    row = third._row()
    assert second.try_acquire()
    third._row = lambda: row  # as if both had read the row before one took it
    assert not third.try_acquire()


def test_leases_with_other_names_are_independent(first, make_lease):
    assert make_lease("second", "lane:long").try_acquire()
