"""Measures the delivery of a backlog of events: `python -m benchmarks.events [COUNT] [DATABASE-URL]`."""

import logging
import sys
import tempfile
import time
from pathlib import Path

from sqlalchemy import func, insert, select

from frepo_core.db import Database, make_engine, migrations, utc_now
from frepo_core.db.models import Event
from frepo_core.plugins import Event as PublicEvent
from frepo_core.plugins import PluginContext, Subscriber
from frepo_core.services.base.lease import LeaseTerms
from frepo_core.services.events.masking import Mask
from frepo_core.services.events.subscriptions import create_subscriptions
from frepo_core.services.upkeep.engine.worker import Worker

COUNT = 100_000
BATCH = 5_000


def main() -> None:
    """Record events while no worker runs; then time one that numbers and delivers them."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    with tempfile.TemporaryDirectory() as folder:
        url = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{Path(folder)}/frepo.db"
        engine = make_engine(url)
        migrations.upgrade(engine)
        database = Database(engine)
        create_subscriptions(database, ["nothing"])
        _record(database, count)
        seconds = _deliver(database, count)
        with database.reading() as session:
            numbered = session.scalar(select(func.count(Event.position)))
        engine.dispose()
    print(f"{count} events, {numbered} numbered, in {seconds:.1f} s: {count / seconds:.0f} events/s")


def _record(database: Database, count: int) -> None:
    row = {"at": utc_now(), "kind": "file.deleted", "actor": "console:root", "data": {"name": "a", "size": 1}}
    for start in range(0, count, BATCH):
        rows = [row] * min(BATCH, count - start)
        database.write(lambda session, rows=rows: session.execute(insert(Event), rows))  # type: ignore[misc]


def _deliver(database: Database, count: int) -> float:
    """Return the seconds from the start of the worker to the last event."""
    handled: list[int] = []

    def do_nothing(event: PublicEvent, context: PluginContext) -> None:
        handled.append(event.position)

    context = PluginContext(settings=None, service=None, log=logging.getLogger("benchmark"))  # type: ignore[arg-type]
    subscriber = Subscriber(name="nothing", kinds=["*"], handle=do_nothing)
    worker = Worker(database, jobs={}, subscribers={"nothing": (subscriber, context)}, mask=Mask(), terms=LeaseTerms())
    start = time.monotonic()
    worker.start()
    while len(handled) < count:
        time.sleep(0.01)
    seconds = time.monotonic() - start
    worker.stop()
    if sorted(handled) != list(range(1, count + 1)):
        raise RuntimeError("an event was skipped or delivered twice")
    return seconds


if __name__ == "__main__":
    main()
