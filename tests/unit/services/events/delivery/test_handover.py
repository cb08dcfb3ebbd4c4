"""Delivery when the leader changes, or when the database is restored under it: epochs."""

import pytest
from sqlalchemy import update

from frepo_core.db.models import Subscription
from frepo_core.plugins import LeaseLost
from frepo_core.services.base.lease import LEADER
from frepo_core.services.events.numbering import number_events


@pytest.mark.databases
def test_the_next_leader_goes_on_where_the_first_stopped(
    services, happen, deliver, delivery, handler, leader, make_lease, make_delivery
):
    happen("a", "b")
    deliver()
    delivery.finish()
    leader.release()
    second = make_lease("second", LEADER)
    assert second.try_acquire()
    happen("c")
    number_events(services.database, second.epoch)
    make_delivery(second).step(second.epoch)

    assert ["a", "b", "c"] == handler.handled


def take_over(clock, lease):
    for _ in range(10):
        if lease.try_acquire():
            return
        clock.wait(5)
    raise AssertionError("the lease was not taken")


@pytest.mark.databases
def test_a_database_that_is_restored_under_the_leader_gets_no_later_position(
    services, happen, deliver, handler, leader, clock, cursor
):
    happen("a", "b")
    deliver()
    clock.wait(1)
    deliver()
    assert 2 == cursor().position
    happen("c")
    services.database.execute(update(Subscription).values(position=0))  # as in the backup

    clock.wait(1)
    with pytest.raises(LeaseLost):
        deliver()
    assert 0 == cursor().position
    deliver()

    assert ["a", "b", "c", "a", "b", "c"] == handler.handled


@pytest.mark.databases
def test_a_frozen_leader_that_wakes_changes_nothing(
    services, happen, deliver, delivery, handler, leader, clock, make_lease, make_delivery, monkeypatch, cursor
):
    happen("a", "b", "c")
    second = make_lease("second", LEADER)

    def freeze(event, context):
        """Handle `a` while another leader takes over and delivers everything; only then return."""
        if not second.epoch:
            take_over(clock, second)
            other = make_delivery(second)
            other.step(second.epoch)
            other.finish()
        handler.handled.append(event.data["name"])

    number_events(services.database, leader.epoch)
    object.__setattr__(delivery._subscriber, "handle", freeze)
    with pytest.raises(LeaseLost):
        delivery.step(1)

    after = cursor()
    assert (3, 2) == (after.position, after.epoch)
    assert not leader.renew()
    happen("d")
    assert 0 == number_events(services.database, 1)
    assert 1 == number_events(services.database, second.epoch)
    assert ["a", "b", "c", "a"] == handler.handled
