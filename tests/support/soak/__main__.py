"""`make soak`: mixed load with random faults; exits with 1 if an invariant is violated or a resource grows."""

import contextlib
import re
import sys
import tempfile
import time
from pathlib import Path

from support.reliability.invariants import Ledger, assert_invariants
from support.reliability.recording_client import RecordingClient, assert_holds_after_sweep, services_of
from support.soak.clients import Clients
from support.soak.faults import Faults, end_trash
from support.soak.plot import draw
from support.soak.samples import Sample, growth, take
from support.soak.site import Site, running_site

CLIENTS = 8
CHECKS = 12
# Requests before the first sample: their memory is no growth, nor is that of each thread's and connection's first ones.
WARM_UP, WARM_UP_SECONDS = 400, 60
BUG = re.compile(r"error [0-9a-f]{8}-[0-9a-f-]{27}: .*")


def main(seconds: float, plot: Path) -> int:
    """Run the soak, draw the plot and print the results."""
    with tempfile.TemporaryDirectory(prefix="frepo-soak-") as folder, running_site(Path(folder)) as site:
        ledger = Ledger()
        clients = Clients(
            [
                RecordingClient(site.steady, ledger),
                RecordingClient(site.steady, ledger),
                RecordingClient(site.restarted, ledger),
            ],
            CLIENTS,
        )
        faults = Faults(site, clients.callers[0].auth)
        samples = _soak(site, clients, faults, seconds)
        site.steady.stop()
        site.restarted.stop()
        _note(clients.problems, lambda: assert_holds_after_sweep(site.steady, ledger))
        clients.problems += _bugs(site)
    kind = "SQLite" if site.database_url.startswith("sqlite") else "PostgreSQL"
    requests = sum(clients.seen.values())
    title = f"{requests} requests in {seconds / 60:.0f} minutes on {kind}, {sum(faults.made.values())} faults"
    plot.parent.mkdir(parents=True, exist_ok=True)
    plot.write_text(draw(samples, title))
    problems = [*clients.problems, *faults.problems, *growth(samples)]
    _report(title, clients, faults, problems, plot)
    return 1 if problems else 0


def _soak(site: Site, clients: Clients, faults: Faults, seconds: float) -> list[Sample]:
    """Run the load; check everything a few times while all clients are paused."""
    clients.start()
    deadline = time.monotonic() + WARM_UP_SECONDS
    while sum(clients.seen.values()) < WARM_UP and time.monotonic() < deadline:
        time.sleep(0.1)
    started, samples = time.monotonic(), []
    faults.start()
    next_check = started + seconds / CHECKS
    try:
        while (now := time.monotonic()) < started + seconds:
            samples.append(take(site.steady.pid, started, site.disk()))
            if now > next_check:
                next_check = now + seconds / CHECKS
                _check(site, clients, faults)
            time.sleep(max(seconds / 600, 0.2))
    finally:
        clients.end()
        faults.end()
    return samples


def _check(site: Site, clients: Clients, faults: Faults) -> None:
    clients.pause()
    try:
        with faults.calm, services_of(site.steady) as services:
            log = site.steady.log.read_text() + site.restarted.log.read_text()
            _note(clients.problems, lambda: assert_invariants(services, clients.callers[0].ledger, log=log))
            end_trash(services)
    finally:
        clients.resume()


def _note(problems: list[str], check) -> None:
    try:
        check()
    except AssertionError as error:
        problems.append(str(error).splitlines()[0])


def _bugs(site: Site) -> list[str]:
    """Return the log lines that report a bug."""
    return [line for service in (site.steady, site.restarted) for line in BUG.findall(service.log.read_text())]


def _report(title: str, clients: Clients, faults: Faults, problems: list[str], plot: Path) -> None:
    print(title)
    for name, count in sorted(clients.seen.items()):
        print(f"  {name}: {count}")
    print("  " + ", ".join(f"{count} × {name}" for name, count in faults.made.items()))
    for problem in problems:
        print(f"PROBLEM {problem}")
    print(f"{len(problems)} problems; {plot}")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(float(sys.argv[1]), Path(sys.argv[2])))
