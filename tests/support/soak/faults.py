"""The faults of a soak, in random order."""

import contextlib
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from datetime import timedelta

from sqlalchemy import create_engine, select, text
from sqlalchemy.pool import NullPool

from frepo_core.db.engine import normalize_url
from frepo_core.db.models import Collection
from frepo_core.errors import DatabaseUnavailableError, FieldsError
from frepo_core.services.composition.container import Services
from frepo_core.services.upkeep.storage import SweepPlan, sweep
from support.reliability.invariants import EVERYTHING
from support.reliability.recording_client import services_of
from support.soak.site import Site
from support.wire import Wire, head

GRACE = timedelta(seconds=60)


def end_trash(services: Services) -> None:
    """End what is in the trash, as if a week had passed."""
    with services.database.reading() as session:
        collections = session.scalars(select(Collection.id)).all()
    for collection in collections:
        with contextlib.suppress(FieldsError):  # it was deleted meanwhile
            services.trash.end(collection, by=None)


class Faults:
    """A thread that causes a fault every few seconds, until `end`."""

    def __init__(self, site: Site, auth: str) -> None:
        self._site, self._auth = site, auth
        self.made: Counter[str] = Counter()
        self.problems: list[str] = []
        self._ended = threading.Event()
        self.calm = threading.Lock()
        self._thread = threading.Thread(target=self._run)
        self._half_open: list[Wire] = []

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join(120)
        for wire in self._half_open:
            wire.close()

    def _run(self) -> None:
        rng = random.Random(0)
        choices = [self.kill, self.restart, self.disturb_database, self.sweep, self.stay_half_open]
        while not self._ended.wait(rng.uniform(1, 6)):
            fault = rng.choice(choices)
            with self.calm:
                try:
                    fault()
                except Exception as error:  # noqa: BLE001  # a thread that ends would make the soak look calm
                    self.problems.append(f"{fault.__name__}: {error!r}")
            self.made[fault.__name__] += 1

    def kill(self) -> None:
        self._site.restarted.stop(signal.SIGKILL)
        self._site.restarted.start()

    def restart(self) -> None:
        self._site.restarted.stop()
        self._site.restarted.start()

    def disturb_database(self) -> None:
        """Break all connections of PostgreSQL, or hold the lock of SQLite for some time."""
        url = normalize_url(self._site.database_url)
        if url.drivername.startswith("sqlite"):
            with contextlib.closing(sqlite3.connect(url.database or "", isolation_level=None, timeout=30)) as other:
                other.execute("BEGIN EXCLUSIVE")
                time.sleep(1)
                other.execute("ROLLBACK")
            return
        engine = create_engine(url, poolclass=NullPool)
        with engine.connect() as connection:
            others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            connection.execute(text(f"SELECT pg_terminate_backend(pid) {others}"))

    def sweep(self) -> None:
        """Sweep while the services run, and empty the trash, as if a week had passed: the disk must not grow."""
        # The lock of SQLite may be held; the next sweep succeeds.
        with services_of(self._site.steady) as services, contextlib.suppress(DatabaseUnavailableError):
            end_trash(services)
            sweep(
                services.database,
                services.backends,
                services.blobs,
                SweepPlan(storage="local", grace=GRACE, most=EVERYTHING),
            )

    def stay_half_open(self) -> None:
        """Send partial requests and stay idle."""
        for wire in self._half_open[:-20]:
            wire.close()
        del self._half_open[:-20]
        with contextlib.suppress(OSError):
            for part in (
                b"POST /repository/fi",
                head("POST", "/repository/file/upload?fileName=a", self._auth, "Content-Length: 9000") + b"x" * 100,
                head("POST", "/repository/file/upload?fileName=a", self._auth, "Transfer-Encoding: chunked")
                + b"ff\r\n",
            ):
                self._half_open.append(Wire(self._site.steady).send(part))
