"""Delivery of events to one subscriber: order, failures, parked events, and epochs."""

import ipaddress
import logging
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db.models import Subscription
from frepo_core.domain.event_kinds import EventKind
from frepo_core.plugins import LeaseLost, PluginContext, Subscriber
from frepo_core.services.events.delivery import PAUSES, TRIES, Delivery
from frepo_core.services.events.masking import Mask
from frepo_core.services.events.numbering import number_events
from frepo_core.services.events.parked_events import list_parked, request_retry
from frepo_core.services.events.recording import NewEvent, record
from frepo_core.services.events.subscriptions import create_subscriptions
from frepo_core.services.jobs.lease import LEADER


class Log:
    """A subscriber's handler that records what it gets, and fails as long as `error` is set."""

    def __init__(self) -> None:
        self.handled = []
        self.tried = 0
        self.error = None

    def __call__(self, event, context):
        self.tried += 1
        if self.error:
            raise self.error
        self.handled.append(event.data["name"])


@pytest.fixture
def handler():
    return Log()


@pytest.fixture
def happen(services):
    """Record events with these names, each in a transaction of its own."""

    def happen(*names, kind=EventKind.FILE_DELETED):
        for name in names:
            event = NewEvent(kind=kind, by=None, data={"name": name})
            services.database.write(lambda session, event=event: record(session, event))

    return happen


@pytest.fixture
def leader(services, make_lease):
    """The lease of the leader, who has numbered nothing yet."""
    lease = make_lease("first", LEADER)
    assert lease.try_acquire()
    return lease


@pytest.fixture
def make_delivery(services, clock, handler):
    """Make the delivery to the subscriber `log` as the process of this lease does it."""

    def make(lease, kinds=("*",), **more):
        subscriber = Subscriber(name="log", kinds=kinds, handle=handler, **more)
        create_subscriptions(services.database, ["log"])
        context = PluginContext(settings=None, service=None, log=logging.getLogger("test"))
        return Delivery(
            services.database,
            subscriber,
            context,
            mask=Mask(services.settings),
            current_epoch=lambda: lease.epoch if lease.is_held else 0,
            monotonic=clock.monotonic,
        )

    return make


@pytest.fixture
def delivery(make_delivery, leader):
    return make_delivery(leader)


@pytest.fixture
def deliver(services, delivery, leader, clock):
    """Number and deliver what there is; the leader keeps its lease."""

    def deliver():
        assert leader.renew()
        number_events(services.database, leader.epoch)
        return delivery.step(leader.epoch)

    return deliver


def cursor(services):
    with services.database.reading() as session:
        return session.scalars(select(Subscription)).one()


@pytest.mark.databases
def test_events_are_handled_once_and_in_order(happen, deliver, handler):
    happen("a", "b", "c")
    deliver()
    happen("d")
    deliver()
    deliver()

    assert ["a", "b", "c", "d"] == handler.handled


def test_a_new_subscriber_starts_at_the_end(services, happen, leader, make_delivery, handler):
    happen("old")
    number_events(services.database, leader.epoch)
    delivery = make_delivery(leader)
    happen("new")
    number_events(services.database, leader.epoch)
    delivery.step(leader.epoch)

    assert ["new"] == handler.handled


def test_only_the_kinds_that_it_wants(services, happen, leader, make_delivery, handler):
    delivery = make_delivery(leader, kinds=["file.*"])
    happen("a")
    happen("b", kind=EventKind.VERSION_ADDED)
    happen("c")
    number_events(services.database, leader.epoch)
    delivery.step(leader.epoch)
    delivery.finish()

    assert ["a", "c"] == handler.handled
    assert 3 == cursor(services).position


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


@pytest.mark.databases
def test_twelve_tries_within_about_a_day_then_the_event_is_parked_and_later_ones_go_on(
    services, happen, deliver, handler, clock
):
    handler.error = RuntimeError("no answer")
    happen("a")
    start = clock.time
    times = []
    for _ in range(TRIES):
        deliver()
        times.append(clock.time - start)
        clock.wait(PAUSES[min(len(times), len(PAUSES)) - 1])
    handler.error = None
    happen("b")
    deliver()

    assert (12, 13) == (TRIES, handler.tried)
    assert timedelta(hours=20) < times[-1] <= timedelta(hours=24)
    assert ["b"] == handler.handled
    (parked,) = list_parked(services.database)
    assert ("log", "file.deleted", 12, "RuntimeError: no answer") == (
        parked.subscriber,
        parked.kind,
        parked.tries,
        parked.error,
    )


@pytest.fixture
def parked(services, happen, deliver, handler, clock):
    handler.error = RuntimeError("no answer")
    happen("a")
    for pause in (*PAUSES, 60):
        deliver()
        clock.wait(pause)
    (parked,) = list_parked(services.database)
    return parked


@pytest.mark.databases
def test_a_parked_event_is_delivered_again_on_request_alone(services, deliver, handler, clock, parked):
    handler.error = None
    clock.wait(86400)
    deliver()
    assert [] == handler.handled

    assert 1 == request_retry(services.database, [parked.id])
    clock.wait(10)
    deliver()

    assert ["a"] == handler.handled
    assert [] == list_parked(services.database)


def test_a_parked_event_that_fails_again_stays_parked(services, deliver, handler, clock, parked):
    handler.error = RuntimeError("still not")
    request_retry(services.database, [])
    for _ in range(5):
        clock.wait(10)
        deliver()

    (still,) = list_parked(services.database)
    assert (13, 13, "RuntimeError: still not", None) == (handler.tried, still.tries, still.error, still.retry_at)


def test_secrets_in_errors_are_masked(services, happen, deliver, handler, caplog):
    secret = services.settings.app_secret.get_secret_value()
    handler.error = RuntimeError(f"https://user:hunter2@example.org/?token=abc123 and {secret}")
    happen("a")
    deliver()

    error = cursor(services).error
    assert "RuntimeError: https://***@example.org/?token=*** and ***" == error
    for part in ("hunter2", "abc123", secret):
        assert part not in caplog.text


def test_the_addresses_of_a_network_in_the_settings_are_no_secrets(services, monkeypatch):
    monkeypatch.setattr(ipaddress.IPv4Network, "__iter__", lambda network: pytest.fail(f"iterates over {network}"))
    settings = services.settings.model_copy(update={"trusted_proxies": (ipaddress.ip_network("10.0.0.0/8"),)})

    assert "10.0.0.1" == Mask(settings)("10.0.0.1")


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), GeneratorExit()])
def test_an_exception_that_would_end_a_program_is_a_failed_try(services, happen, deliver, handler, error):
    handler.error = error
    happen("a")
    deliver()

    assert 1 == cursor(services).tries


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
def test_an_error_with_characters_that_databases_refuse_is_stored(services, happen, deliver, handler):
    handler.error = RuntimeError("the member a\0b\udcff")
    happen("a")
    deliver()

    assert "RuntimeError: the member a\ufffdb\ufffd" == cursor(services).error


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
    services, happen, deliver, handler, leader, clock
):
    happen("a", "b")
    deliver()
    clock.wait(1)
    deliver()
    assert 2 == cursor(services).position
    happen("c")
    services.database.execute(update(Subscription).values(position=0))  # as in the backup

    clock.wait(1)
    with pytest.raises(LeaseLost):
        deliver()
    assert 0 == cursor(services).position
    deliver()

    assert ["a", "b", "c", "a", "b", "c"] == handler.handled


@pytest.mark.databases
def test_a_frozen_leader_that_wakes_changes_nothing(
    services, happen, deliver, delivery, handler, leader, clock, make_lease, make_delivery, monkeypatch
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

    after = cursor(services)
    assert (3, 2) == (after.position, after.epoch)
    assert not leader.renew()
    happen("d")
    assert 0 == number_events(services.database, 1)
    assert 1 == number_events(services.database, second.epoch)
    assert ["a", "b", "c", "a"] == handler.handled
