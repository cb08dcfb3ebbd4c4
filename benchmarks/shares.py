"""Samples in whose code the processor time of small requests is spent: `make costs` prints it below the floors.

The system interrupts the process each millisecond of processor time, or as often as it can. What a function written in
C takes counts for the code that calls it; what other threads take, for the place where the request waits for them.
"""

import logging
import signal
import tempfile
import threading
from collections import Counter as Counts
from pathlib import Path
from types import FrameType

from support.costs.counter import Counter
from support.costs.requests import Costs

REQUESTS = ("upload of a new content", "version, first API", "list of collections, /api/v1")
ROUNDS, COUNT = 20, 40
# A part of the path of a file, and whose code it is; the first that fits.
OWNERS = {
    "/db/prepared_statements.py": "SQLite",
    "/db/sqlite/": "SQLite",
    "/base/plugin_deadlines.py": "other threads",
    "/sqlalchemy/": "SQLAlchemy",
    "/pydantic/": "pydantic",
    "/frepo_core/web/": "our web",
    "/frepo_core/db/": "our db",
    "/frepo_": "our services and plug-ins",
    "/pyramid/": "Pyramid and WebOb",
    "/webob/": "Pyramid and WebOb",
    "/webtest/": "",
    "/benchmarks/": "",
}
COLUMNS = tuple(dict.fromkeys(filter(None, OWNERS.values())))
# These functions of SQLAlchemy do nothing but call the driver.
_DRIVER = {"do_execute", "do_commit", "do_rollback"}


def main() -> None:
    """Print a table in Markdown."""
    logging.disable(logging.CRITICAL)
    print(f"| Request | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    with tempfile.TemporaryDirectory(prefix="frepo-shares-") as folder:
        counter = Counter()
        threading.setprofile(None)  # counting would take most of the time
        costs = Costs(Path(folder), f"sqlite:///{folder}/frepo.db", counter)
        counter.unwatch(costs.services.database.engine)
        for name in REQUESTS:
            found = _sample(costs, name)
            total = sum(found[column] for column in COLUMNS) or 1
            print(f"| {name} | {' | '.join(f'{found[column] / total:.0%}' for column in COLUMNS)} |", flush=True)


def _sample(costs: Costs, name: str) -> Counts[str]:
    found: Counts[str] = Counts()
    signal.signal(signal.SIGPROF, lambda number, frame: found.update([_owner(frame)]))
    for _ in range(ROUNDS):
        requests = costs.prepare(name, COUNT)
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
        for request in requests:
            request()
        signal.setitimer(signal.ITIMER_PROF, 0)
    return found


def _owner(frame: FrameType | None) -> str:
    while frame is not None:
        code = frame.f_code
        for part, owner in OWNERS.items():
            if part in code.co_filename:
                return "SQLite" if code.co_name in _DRIVER else owner
        frame = frame.f_back
    return ""


if __name__ == "__main__":
    main()
