"""Delivery of events to one subscriber: order, kinds, failures, and clocks that are wrong."""

import ipaddress
from datetime import timedelta

import pytest

from frepo_core.domain.event_kinds import EventKind
from frepo_core.plugins import hang_watch
from frepo_core.services.events.delivery import PAUSES
from frepo_core.services.events.masking import Mask
from frepo_core.services.events.numbering import number_events
from support.logs.waiting import wait_for_text


@pytest.mark.databases
def test_events_are_handled_once_and_in_order(happen, deliver, handler):
    happen("a", "b", "c")
    deliver()
    happen("d")
    deliver()
    deliver()

    assert ["a", "b", "c", "d"] == handler.handled


def test_a_subscriber_that_hangs_is_named(happen, deliver, handler, caplog, monkeypatch):
    monkeypatch.setattr(hang_watch, "SECONDS", 0.05)
    monkeypatch.setattr(
        handler, "wait", lambda: wait_for_text(caplog, "the subscriber log at event 1 (file.deleted) does not")
    )
    happen("a")
    deliver()

    assert ["a"] == handler.handled


def test_a_new_subscriber_starts_at_the_end(services, happen, leader, make_delivery, handler):
    happen("old")
    number_events(services.database, leader.epoch)
    delivery = make_delivery(leader)
    happen("new")
    number_events(services.database, leader.epoch)
    delivery.step(leader.epoch)

    assert ["new"] == handler.handled


def test_only_the_kinds_that_it_wants(services, happen, leader, make_delivery, handler, cursor):
    delivery = make_delivery(leader, kinds=["file.*"])
    happen("a")
    happen("b", kind=EventKind.VERSION_ADDED)
    happen("c")
    number_events(services.database, leader.epoch)
    delivery.step(leader.epoch)
    delivery.finish()

    assert ["a", "c"] == handler.handled
    assert 3 == cursor().position


def test_an_event_is_as_old_as_the_subscriber_asks(services, happen, leader, make_delivery, handler, monkeypatch):
    monkeypatch.undo()  # of the simulated clock: the age of an event is the difference of real times
    delivery = make_delivery(leader, delay=300)
    happen("a")
    number_events(services.database, leader.epoch)

    assert 0 < delivery.step(leader.epoch) <= 10
    assert [] == handler.handled

    later = services.database.now() + timedelta(seconds=301)
    monkeypatch.setattr(services.database, "now", lambda: later)
    delivery.step(leader.epoch)

    assert ["a"] == handler.handled


def test_a_failed_event_holds_the_later_ones_back_until_it_is_handled(happen, deliver, handler, clock):
    handler.error = RuntimeError("no answer")
    happen("a", "b")
    deliver()
    assert (1, []) == (handler.tried, handler.handled)
    deliver()
    assert 1 == handler.tried

    handler.error = None
    clock.wait(PAUSES[0])
    deliver()

    assert ["a", "b"] == handler.handled


def test_secrets_in_errors_are_masked(services, happen, deliver, handler, caplog, cursor):
    secret = services.settings.app_secret.get_secret_value()
    handler.error = RuntimeError(f"https://user:hunter2@example.org/?token=abc123 and {secret}")
    happen("a")
    deliver()

    assert "RuntimeError: https://***@example.org/?token=*** and ***" == cursor().error
    for part in ("hunter2", "abc123", secret):
        assert part not in caplog.text


def test_the_addresses_of_a_network_in_the_settings_are_no_secrets(services, monkeypatch):
    monkeypatch.setattr(ipaddress.IPv4Network, "__iter__", lambda network: pytest.fail(f"iterates over {network}"))
    settings = services.settings.model_copy(update={"trusted_proxies": (ipaddress.ip_network("10.0.0.0/8"),)})

    assert "10.0.0.1" == Mask(settings)("10.0.0.1")


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), GeneratorExit()])
def test_an_exception_that_would_end_a_program_is_a_failed_try(happen, deliver, handler, error, cursor):
    handler.error = error
    happen("a")
    deliver()

    assert 1 == cursor().tries


def test_a_clock_that_was_set_back_delays_the_next_try_by_no_more_than_its_pause(happen, deliver, handler, clock):
    handler.error = RuntimeError("no answer")
    happen("a")
    deliver()
    handler.error = None
    clock.jump(days=-30)
    assert deliver() <= PAUSES[0]
    assert [] == handler.handled

    clock.wait(PAUSES[0])
    deliver()

    assert ["a"] == handler.handled


def test_so_does_a_clock_that_was_set_back_before_the_start(happen, deliver, leader, make_delivery, handler, clock):
    handler.error = RuntimeError("no answer")
    happen("a")
    deliver()
    handler.error = None
    clock.jump(days=-30)
    started = make_delivery(leader)
    started.step(leader.epoch)
    assert [] == handler.handled

    clock.wait(PAUSES[0])
    assert leader.renew()
    started.step(leader.epoch)

    assert ["a"] == handler.handled


def test_an_event_of_a_clock_that_was_fast_does_not_wait_until_its_time(
    services, happen, leader, make_delivery, handler, monkeypatch
):
    monkeypatch.undo()  # of the simulated clock, as above
    delivery = make_delivery(leader, delay=300)
    happen("a")
    number_events(services.database, leader.epoch)
    right = services.database.now() - timedelta(days=30)
    monkeypatch.setattr(services.database, "now", lambda: right)
    delivery.step(leader.epoch)

    assert ["a"] == handler.handled


@pytest.mark.databases
def test_an_error_with_characters_that_databases_refuse_is_stored(happen, deliver, handler, cursor):
    handler.error = RuntimeError("the member a\0b\udcff")
    happen("a")
    deliver()

    assert "RuntimeError: the member a\ufffdb\ufffd" == cursor().error
