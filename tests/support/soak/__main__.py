"""`make soak`: mixed load with random faults; exits with 1 if an invariant is violated or a resource grows."""

import contextlib
import re
import sys
import tempfile
import time
from pathlib import Path

from support.reliability.invariants import Ledger, assert_invariants
from support.reliability.real import Caller, assert_holds_after_sweep, inside
from support.soak.clients import Crowd
from support.soak.plot import draw
from support.soak.samples import Sample, growth, take
from support.soak.site import Site, running_site
from support.soak.troubles import Troubles

CLIENTS = 8
LOOKS = 12
BUG = re.compile(r"error [0-9a-f]{8}-[0-9a-f-]{27}: .*")


def main(seconds: float, plot: Path) -> int:
    """Run the soak, draw the plot and print the results."""
    with tempfile.TemporaryDirectory(prefix="frepo-soak-") as folder, running_site(Path(folder)) as site:
        ledger = Ledger()
        crowd = Crowd([Caller(site.steady, ledger), Caller(site.steady, ledger), Caller(site.mortal, ledger)], CLIENTS)
        troubles = Troubles(site, crowd.callers[0].auth)
        samples = _soak(site, crowd, troubles, seconds)
        site.steady.stop()
        site.mortal.stop()
        _note(crowd.problems, lambda: assert_holds_after_sweep(site.steady, ledger))
        crowd.problems += _bugs(site)
    kind = "SQLite" if site.database_url.startswith("sqlite") else "PostgreSQL"
    requests = sum(crowd.seen.values())
    title = f"{requests} requests in {seconds / 60:.0f} minutes on {kind}, {sum(troubles.made.values())} bad days"
    plot.parent.mkdir(parents=True, exist_ok=True)
    plot.write_text(draw(samples, title))
    problems = [*crowd.problems, *troubles.problems, *growth(samples)]
    _report(title, crowd, troubles, problems, plot)
    return 1 if problems else 0


def _soak(site: Site, crowd: Crowd, troubles: Troubles, seconds: float) -> list[Sample]:
    """Run the load; check everything a few times while all clients are paused."""
    started, samples = time.monotonic(), []
    crowd.start()
    troubles.start()
    next_look = started + seconds / LOOKS
    try:
        while (now := time.monotonic()) < started + seconds:
            samples.append(take(site.steady.pid, started, site.disk()))
            if now > next_look:
                next_look = now + seconds / LOOKS
                _look(site, crowd, troubles)
            time.sleep(max(seconds / 600, 0.2))
    finally:
        crowd.end()
        troubles.end()
    return samples


def _look(site: Site, crowd: Crowd, troubles: Troubles) -> None:
    crowd.quiet()
    try:
        with troubles.calm, inside(site.steady) as services:
            log = site.steady.log.read_text() + site.mortal.log.read_text()
            _note(crowd.problems, lambda: assert_invariants(services, crowd.callers[0].ledger, log=log))
    finally:
        crowd.go_on()


def _note(problems: list[str], check) -> None:
    try:
        check()
    except AssertionError as error:
        problems.append(str(error).splitlines()[0])


def _bugs(site: Site) -> list[str]:
    """Return the log lines that report a bug."""
    return [line for service in (site.steady, site.mortal) for line in BUG.findall(service.log.read_text())]


def _report(title: str, crowd: Crowd, troubles: Troubles, problems: list[str], plot: Path) -> None:
    print(title)
    for name, count in sorted(crowd.seen.items()):
        print(f"  {name}: {count}")
    print("  " + ", ".join(f"{count} × {name}" for name, count in troubles.made.items()))
    for problem in problems:
        print(f"PROBLEM {problem}")
    print(f"{len(problems)} problems; {plot}")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(float(sys.argv[1]), Path(sys.argv[2])))
