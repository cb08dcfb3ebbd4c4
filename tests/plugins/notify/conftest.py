"""Services with targets, receivers for them, and events."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from frepo_core.db import utc_now
from frepo_core.db.models import Event, Subscription
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.events.delivery import Delivery
from frepo_core.services.events.masking import Mask
from support.receivers.mail import mail_server
from support.receivers.webhooks import webhook_receiver

START = utc_now()


@pytest.fixture
def mail():
    with mail_server() as server:
        yield server


@pytest.fixture
def hook():
    with webhook_receiver() as receiver:
        yield receiver


@pytest.fixture
def inner():
    """A receiver at an address that is not allowed."""
    with webhook_receiver("127.0.0.1") as receiver:
        yield receiver


@pytest.fixture
def targets():
    """The setting `notify.targets`; a test overrides it."""
    return ""


@pytest.fixture
def ini(ini, targets):
    return ini | {
        "notify.targets": targets,
        "notify.allowed_networks": "127.0.0.2/32",
        "notify.service_name": "backup1",
        "notify.timeout": "5",
    }


@pytest.fixture
def context(services):
    return services.contexts["notify"]


@pytest.fixture
def happened(services, context):
    """Record events as the worker numbers them: `happened(kind, ...)`; return them as subscribers get them."""
    count = 0

    def record(kind, **more):
        nonlocal count
        count += 1
        fields = {"at": START + timedelta(seconds=count), "actor": "ab12", "data": {}, "position": count} | more
        services.database.write(lambda session: session.execute(insert(Event), [{"kind": kind} | fields]))
        return context.service.events(after=count - 1)[0]

    return record


@pytest.fixture
def make_collection(services):
    """Create a collection with this name; return its id."""

    def make(name):
        return services.collections.create(CollectionChange(limits={}, filename=name), by=None).id

    return make


@pytest.fixture
def handle(services, context):
    """Hand an event to the subscriber of a target."""

    def handle(target, event):
        services.plugins.subscribers[f"notify_{target}"].spec.handle(event, context)

    return handle


class Clock:
    def __init__(self):
        self.time = START

    def now(self):
        return self.time

    def monotonic(self):
        return (self.time - START).total_seconds()


@pytest.fixture
def clock(services, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(services.database, "now", clock.now)
    return clock


@pytest.fixture
def deliver(services, context, clock):
    """Run the delivery to a target for a time of the simulated clock."""
    deliveries = {}

    def make(target):
        name = f"notify_{target}"
        row = {"name": name, "position": 0, "epoch": 1, "tries": 0, "created_at": START}
        services.database.write(lambda session: session.execute(insert(Subscription), [row]))
        subscriber = services.plugins.subscribers[name].spec
        mask = Mask(context.settings)
        return Delivery(
            services.database, subscriber, context, mask=mask, current_epoch=lambda: 1, monotonic=clock.monotonic
        )

    def deliver(target, length):
        delivery = deliveries.setdefault(target, None) or make(target)
        deliveries[target] = delivery
        end = clock.time + length
        while clock.time < end:
            clock.time += timedelta(seconds=min(delivery.step(1), 600) or 1)

    return deliver
