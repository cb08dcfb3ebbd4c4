"""Measures below what a small request cannot cost: `make costs` prints it beside what it costs.

The floor is what the driver and the system need for the same statements, commits and syncs, and an empty view of
Pyramid. Times are of the processor, the least of some rounds, in this process and over SQLite.
"""

import logging
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pyramid.config import Configurator
from pyramid.response import Response
from sqlalchemy import event
from webtest import TestApp

from support.costs.counter import Counter
from support.costs.requests import Costs

from .harness.empty import store

REQUESTS = (
    "GET /version",
    "upload of a new content",
    "upload of a known content",
    "version, first API",
    "version, /api/v1",
    "download",
    "list of files",
    "list of collections, /api/v1",
)
ROUNDS, COUNT = 5, 40
# What the driver gets: a statement and its parameters, for many rows or one.
Statement = tuple[str, Any, bool]


def main() -> None:
    """Print a table in Markdown."""
    logging.disable(logging.CRITICAL)
    threading.setprofile(None)  # counting would take most of the time
    print("| Request | ours, ms | SQL and syncs by the driver | an empty view | between |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="frepo-floors-") as folder:
        counter = Counter()
        threading.setprofile(None)
        (Path(folder) / "floor").mkdir()
        costs = Costs(Path(folder), f"sqlite:///{folder}/frepo.db", counter)
        counter.unwatch(costs.services.database.engine)
        view = _least(lambda: [_empty_view()] * COUNT)
        for name in REQUESTS:
            ours, driver = _measure(costs, counter, name, Path(folder))
            between = max(ours - driver - view, 0)
            print(f"| {name} | {ours:.2f} | {driver:.2f} | {view:.2f} | {between / ours:.0%} |")


def _measure(costs: Costs, counter: Counter, name: str, folder: Path) -> tuple[float, float]:
    """Return the milliseconds of a request, and of its statements and syncs by the driver alone."""
    syncs = counter.count(costs.prepare(name, 1)[0]).syncs
    ours = _least(lambda: costs.prepare(name, COUNT))
    prepared = costs.prepare(name, COUNT)
    _copy_database(folder)
    requests = [_record(costs, one) for one in prepared]
    with closing(_connect(folder / "before.db")) as connection:
        works = iter([lambda one=one: _replay(connection, one, syncs, folder) for one in requests])
        return ours, _least(lambda: _take(works, COUNT // ROUNDS))


def _least(prepare: Callable[[], Sequence[Callable[[], object]]]) -> float:
    """Return the milliseconds of the processor for one of the works, the least of the rounds."""
    times = []
    for _ in range(ROUNDS):
        works = prepare()
        begin = time.process_time()
        for work in works:
            work()
        times.append((time.process_time() - begin) / len(works))
    return min(times) * 1000


def _take(works: Iterator[Callable[[], object]], count: int) -> list[Callable[[], object]]:
    return [next(works) for _ in range(count)]


def _copy_database(folder: Path) -> None:
    """Copy the database as it is before the requests, which the driver repeats."""
    (folder / "before.db").unlink(missing_ok=True)
    with closing(_connect(folder / "frepo.db")) as connection:
        connection.execute("VACUUM INTO ?", [str(folder / "before.db")])


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def _record(costs: Costs, request: Callable[[], object]) -> list[Statement]:
    """Send a request; return its statements, as the driver gets them."""
    found: list[Statement] = []

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        found.append((statement, parameters, many))

    engine = costs.services.database.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        request()
    finally:
        event.remove(engine, "before_cursor_execute", note)
    return found


def _replay(connection: sqlite3.Connection, statements: Sequence[Statement], syncs: int, folder: Path) -> None:
    writes = any(not statement.lstrip().startswith("SELECT") for statement, _, _ in statements)
    if syncs:  # a file and its folder
        store(folder / "floor", bytes(4096))
    if writes:
        connection.execute("BEGIN IMMEDIATE")
    for statement, parameters, many in statements:
        (connection.executemany if many else connection.execute)(statement, parameters).fetchall()
    if writes:
        connection.execute("COMMIT")


def _empty_view() -> Callable[[], object]:
    config = Configurator()
    config.add_route("all", "/*path")
    config.add_view(lambda request: Response(body=b"{}", content_type="application/json"), route_name="all")
    app = TestApp(config.make_wsgi_app(), lint=False)
    return lambda: app.get("/version")


if __name__ == "__main__":
    main()
