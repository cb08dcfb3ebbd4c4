"""How fast events are delivered that happened while no worker ran; `benchmarks/events.py` measures 100,000."""

import logging
import threading
import time

import pytest
from sqlalchemy import insert

from frepo_core.db import utc_now
from frepo_core.db.models import Event
from frepo_core.plugins import PluginContext, Subscriber
from frepo_core.services.base.lease import LeaseTerms
from frepo_core.services.events.masking import Mask
from frepo_core.services.events.subscriptions import create_subscriptions
from frepo_core.services.upkeep.engine.worker import Worker

COUNT = 10_000


@pytest.mark.costly
@pytest.mark.slow
def test_a_thousand_events_a_second_are_delivered_to_a_subscriber_that_does_nothing(services):
    handled, is_done = [], threading.Event()

    def do_nothing(event, context):
        handled.append(event.position)
        if len(handled) == COUNT:
            is_done.set()

    create_subscriptions(services.database, ["nothing"])
    row = {"at": utc_now(), "kind": "file.deleted", "actor": "console:root", "data": {"name": "a", "size": 1}}
    services.database.write(lambda session: session.execute(insert(Event), [row] * COUNT))
    subscriber = Subscriber(name="nothing", kinds=["*"], handle=do_nothing)
    context = PluginContext(settings=None, service=None, log=logging.getLogger("test"))
    subscribers = {"nothing": (subscriber, context)}
    worker = Worker(services.database, jobs={}, subscribers=subscribers, mask=Mask(), terms=LeaseTerms())

    started = time.monotonic()
    worker.start()
    assert is_done.wait(60)
    seconds = time.monotonic() - started
    worker.stop()

    assert list(range(1, COUNT + 1)) == handled
    assert 1_000 < COUNT / seconds
