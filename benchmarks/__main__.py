"""Runs the groups: `python -m benchmarks [--full] [GROUP ...]`.

It writes results.json and docs/performance-figures.md.
"""

import argparse
import json
import time
import traceback
from pathlib import Path

from . import (
    cockpit,
    compact,
    console,
    growth,
    large_uploads,
    many_clients,
    memory,
    night,
    peers,
    sealed,
    sessions,
    small,
    stores,
    transfers,
    wal,
)
from .harness import report
from .harness.measure import Results, Row, Sizes, machine

HERE = Path(__file__).parent
GROUPS = {
    "console": console.run,
    "growth": growth.run,
    "cockpit": cockpit.run,
    "small": small.run,
    "many_clients": many_clients.run,
    "uploads": large_uploads.run,
    "sessions": sessions.run,
    "transfers": transfers.run,
    "wal": wal.run,
    "memory": memory.run,
    "compact": compact.run,
    "stores": stores.run,
    "sealed": sealed.run,
    "night": night.run,
    "peers": peers.run,
}
# Groups for the full run only: they take long, need servers, or do not depend on changes of the code.
LEFT_OUT = {"cockpit", "stores", "sealed", "night", "peers"}


def main() -> None:
    """Run the chosen groups; a failed group does not stop the others."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the sizes of docs/performance-figures.md; an hour")
    parser.add_argument("--report", action="store_true", help="only write the page from results.json")
    parser.add_argument(
        "groups",
        nargs="*",
        metavar="GROUP",
        help=f"of {', '.join(GROUPS)}; all by default, in the short form all but {', '.join(sorted(LEFT_OUT))}",
    )
    options = parser.parse_args()
    path = HERE / ("results.json" if options.full or options.report else "results-short.json")
    if not options.report:
        groups = options.groups or [name for name in GROUPS if options.full or name not in LEFT_OUT]
        _run(path, groups, full=options.full)
    if options.full or options.report:
        report.write(path)


def _run(path: Path, groups: list[str], *, full: bool) -> None:
    results = Results(path=path, full=full)
    if path.exists() and set(groups) != set(GROUPS):  # some groups again: the others' rows stay
        before = json.loads(path.read_text())
        results.rows = [Row(**row) for row in before["rows"] if row["group"] not in groups]
        results.peers = [] if "peers" in groups else before["peers"]
        results.series = before.get("series", [])
        results.machines = before["machines"]
    for group in groups:
        start = time.monotonic()
        try:
            GROUPS[group](results, Sizes(full=full))
        except Exception as error:  # noqa: BLE001  # the next group is worth its time all the same
            traceback.print_exc()
            results.skipped[group] = f"{type(error).__name__}: {error}"
        results.machines[group] = machine(full=full)
        print(f"  {group}: {time.monotonic() - start:.0f} s", flush=True)
    results.write()


if __name__ == "__main__":
    main()
