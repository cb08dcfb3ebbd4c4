"""Measures what an operator asks: each list, filter and the overview, with many rows and with a hundredth of them."""

import contextlib
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from frepo_core.db import make_engine
from support.servers import postgresql
from support.servers.service import Service

from .harness import cockpit_data
from .harness.client import PersistentConnection
from .harness.measure import Results, Row, Sizes, Work, alternate, compare
from .harness.world import folder, frepo

FACTOR = 100
RUNS, ASKED = 7, 5
MOST_GROWTH, ALWAYS_ALLOWED = 1.5, 0.050  # seconds
ONE = "00000000-0000-4000-8000-000000000007"
V1 = "/api/v1"
SORTS = ("name", "-created_at", "-stored_size", "-last_version_at", "state")
STATES = ("damaged", "overdue", "full", "suspicious", "late", "new", "ok")
COLLECTIONS = (
    *(f"/collections?sort={sort}" for sort in SORTS),
    *(f"/collections?state={state}" for state in STATES),
    "/collections?q=server-77",
    "/collections?q=no-such-collection",
    "/collections?label=production",
    "/collections?strategy=alert_when_backup_limit_reached",
    f"/collections/{ONE}",
    *(f"/collections/{ONE}/{part}" for part in ("versions", "versions/latest", "checks", "history", "access", "trash")),
    f"/collections/{ONE}/checks?outcome=broken",
    f"/history/collections?collection={ONE}",
)
TOKENS = (
    *(f"/tokens?sort={sort}" for sort in ("name", "-created_at", "last_used_at", "expires_at")),
    "/tokens?q=server-77",
    "/tokens?role=upload.all",
    f"/tokens?collection={ONE}",
    "/tokens?unused_since=2020-01-01",
)
EVENTS = (
    "/events",
    "/events?kind=version.deleted",
    "/events?kind=version.*",
    "/events?kind=token.created",
    f"/events?collection={ONE}",
    f"/events?collection={ONE}&kind=version.deleted",
    "/events?actor={actor}",
    "/events?actor={actor}&kind=version.refused",
    "/events?since=2020-01-01",
)
OTHERS = ("", "/overview", "/history", "/jobs", "/damage", "/files", "/deleted-collections", "/aliases")
# What is asked once a page costs the same anywhere: the 20th page.
DEEP = ("/collections?limit=50&sort=name", "/events?limit=50", "/tokens?limit=50&sort=name")


def run(results: Results, sizes: Sizes) -> None:
    """Compare an installation with one of a hundredth of its size. The long form has 10,000 collections."""
    if postgresql.MISSING:
        results.skipped["cockpit"] = postgresql.MISSING
        return
    count = 10_000 if sizes.full else 2_000
    measure(results, {"many": (count, count * cockpit_data.EVENTS), "few": (count // FACTOR, count * 10)})


def measure(results: Results, installations: dict[str, tuple[int, int]]) -> None:
    """Compare `many` with `few`, each a number of collections and of events."""
    with contextlib.ExitStack() as stack:
        where = stack.enter_context(folder())
        url = stack.enter_context(postgresql.postgresql())
        services = {
            name: stack.enter_context(_filled(where / name, url, name, *numbers))
            for name, numbers in installations.items()
        }
        paths = [*COLLECTIONS, *TOKENS, *EVENTS, *OTHERS]
        for path in paths:
            works = {name: _asking(service, path) for name, service in services.items()}
            results.add(_row(path, alternate(works, runs=RUNS)))
        for path in DEEP:
            first = _asking(services["many"], path)
            deep = _asking(services["many"], path + "&cursor=" + _cursor(services["many"], path, pages=20))
            results.add(_row(f"{path}, page 20 : page 1", alternate({"many": deep, "few": first}, runs=RUNS)))


@contextlib.contextmanager
def _filled(where: Path, server: str, name: str, collections: int, events: int) -> Iterator[Service]:
    """Start a service on a database of its own, and fill it."""
    engine = make_engine(server)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    url = server.removesuffix("/postgres") + f"/{name}"
    with frepo(where, DATABASE_URL=url, WORKER_IN_PROCESS="false") as service:
        engine = make_engine(url)
        start = time.monotonic()
        cockpit_data.fill(engine, collections, events)
        print(f"  {collections:,} collections, {events:,} events: {time.monotonic() - start:.0f} s", flush=True)
        engine.dispose()
        yield service


def _row(path: str, samples: dict[str, list[float]]) -> Row:
    """Return a row that compares many rows with few. 1.5 times the duration is allowed, and always 50 ms."""
    few = statistics.median(samples["few"])
    reach = round(max(MOST_GROWTH, ALWAYS_ALLOWED / few), 2)
    return compare("cockpit", f"GET {path or '/api/v1'}", samples["many"], samples["few"], reach=reach)


def _asking(service: Service, path: str) -> Work:
    connection = _connect(service)
    actor = json.loads(connection.ask("GET", f"{V1}/tokens?sort=name&q=server-7&limit=1"))["items"][0]["fingerprint"]
    where = V1 + path.replace("{actor}", actor)

    def sample() -> float:
        start = time.perf_counter()
        for _ in range(ASKED):
            connection.ask("GET", where)
        return (time.perf_counter() - start) / ASKED

    return sample


def _cursor(service: Service, path: str, pages: int) -> str:
    connection, cursor = _connect(service), ""
    for _ in range(pages):
        cursor = json.loads(connection.ask("GET", f"{V1}{path}" + (f"&cursor={cursor}" if cursor else "")))["next"]
    return cursor


def _connect(service: Service) -> PersistentConnection:
    return PersistentConnection(service.address, {"X-Auth-Token": service.admin})
