"""Fixtures: a subscriber that records what it gets, and its delivery by a leader."""

import logging

import pytest
from sqlalchemy import select

from frepo_core.db.models import Subscription
from frepo_core.domain.event_kinds import EventKind
from frepo_core.plugins import PluginContext, Subscriber
from frepo_core.services.base.lease import LEADER
from frepo_core.services.events.delivery import Delivery
from frepo_core.services.events.masking import Mask
from frepo_core.services.events.numbering import number_events
from frepo_core.services.events.recording import NewEvent, record
from frepo_core.services.events.subscriptions import create_subscriptions


class Log:
    """A subscriber's handler that records what it gets, and fails as long as `error` is set."""

    def __init__(self) -> None:
        self.handled = []
        self.tried = 0
        self.error = None
        self.wait = lambda: None

    def __call__(self, event, context):
        self.tried += 1
        self.wait()
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


@pytest.fixture
def cursor(services):
    """Return what the database has about the subscriber."""

    def cursor():
        with services.database.reading() as session:
            return session.scalars(select(Subscription)).one()

    return cursor
