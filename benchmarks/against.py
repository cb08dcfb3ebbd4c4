"""Measures this tree and another commit in turns: `make bench-against REF=6c3d1555`.

The commit is checked out and installed in `build/against`. Both services run at the same time, and one after the other
gets the same load: five rounds, of which the medians count. Run it on a machine that does nothing else.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from support.client import COLLECTIONS
from support.paths import ROOT
from support.servers.service import Service

from .harness.client import make_file, post_file, stamp
from .harness.measure import RUNS, Sizes, machine
from .harness.world import HUGE, headers
from .small import processor_seconds, uploads, wrk

FOLDER = ROOT / "build/against"
BIG = 256 << 20
# A sample: requests per second, and the processor seconds of the service for each.
Sample = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Side:
    """A running service, a folder for scripts of wrk, a stored file of 4 KiB, and an empty collection."""

    service: Service
    folder: Path
    stored: str
    collection: str


def build(reference: str) -> Path:
    """Check out a commit and install it in its own environment, unless that was done before; return its folder."""
    commit = _git("rev-parse", "--short=10", f"{reference}^{{commit}}")
    tree = FOLDER / commit
    if not tree.exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(ROOT), str(tree)], check=True)
        subprocess.run(["git", "checkout", "--quiet", "--detach", commit], cwd=tree, check=True)
    python = Path(sys.base_prefix) / "bin/python3"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    subprocess.run(["make", "--silent", "install", f"PYTHON={python}"], cwd=tree, env=environment, check=True)
    return tree


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def start(tree: Path, folder: Path) -> tuple[Side, float]:
    """Start the service of a tree; return it, and the processor seconds until its first answer, the second time."""
    folder.mkdir()
    quiet = folder / "quiet.ini"
    text = (tree / "development.ini").read_text()
    quiet.write_text(text.replace("%(here)s", str(folder)).replace("level = INFO", "level = WARNING"))
    service = Service(folder, HUGE, ini=quiet, programs=tree / ".venv/bin")
    service.start()
    service.admin  # noqa: B018  # made now, and the database is there at the second start
    service.stop()
    service.start()
    used = processor_seconds(service.pid)
    small = make_file(folder / "small", 4096)
    name = post_file(service.address, "/repository/file/upload?fileName=small.bin", small, headers(service))["filename"]
    return Side(service=service, folder=folder, stored=name, collection=_create(service)), used


def _create(service: Service) -> str:
    form = json.dumps({"filename": "dump.sql", "maxBackupsCount": 1_000_000}).encode()
    sent = headers(service) | {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{service.url}{COLLECTIONS}", form, sent)) as answer:
        return str(json.load(answer)["collection"]["id"])


def works(seconds: int) -> Mapping[str, Callable[[Side], float]]:
    """Return what is measured by its name: each returns how many requests were answered in a second."""
    sizes = Sizes(full=seconds > 1)

    def get(path: Callable[[Side], str], connections: int) -> Callable[[Side], float]:
        def work(side: Side) -> float:
            token = f"X-Auth-Token: {side.service.admin}"
            return wrk(f"{side.service.url}{path(side)}", connections, sizes.seconds, token)["rate"]

        return work

    def send(path: Callable[[Side], str], connections: int) -> Callable[[Side], float]:
        def work(side: Side) -> float:
            service, is_named = side.service, path is file
            return uploads(
                service.url,
                side.folder,
                sizes,
                headers=headers(service),
                path=path(side),
                connections=connections,
                is_named=is_named,
            )

        return work

    def file(side: Side) -> str:
        return "/repository/file/upload?fileName="

    def first(side: Side) -> str:
        return f"{COLLECTIONS}/{side.collection}/backup"

    def second(side: Side) -> str:
        return f"/api/v1/collections/{side.collection}/versions"

    def download(side: Side) -> str:
        return f"/repository/file/{side.stored}"

    return {
        "upload of 4 KiB, 1 client": send(file, 1),
        "upload of 4 KiB, 8 clients": send(file, 8),
        "version of 4 KiB, first API, 1 client": send(first, 1),
        "version of 4 KiB, first API, 8 clients": send(first, 8),
        "version of 4 KiB, /api/v1, 8 clients": send(second, 8),
        "download of 4 KiB, 1 client": get(download, 1),
        "download of 4 KiB, 8 clients": get(download, 8),
        "list of collections, /api/v1, 8 clients": get(lambda side: "/api/v1/collections", 8),
        "GET /version, 8 clients": get(lambda side: "/version", 8),
        "upload of 256 MiB": _send_big,
    }


def _send_big(side: Side) -> float:
    big = side.folder / "big"
    if not big.exists():
        make_file(big, BIG)
    stamp(big)
    begin = time.perf_counter()
    post_file(side.service.address, "/repository/file/upload?fileName=big.bin", big, headers(side.service))
    return 1 / (time.perf_counter() - begin)


def _sample(side: Side, work: Callable[[Side], float]) -> Sample:
    begin, before = time.perf_counter(), processor_seconds(side.service.pid)
    rate = work(side)
    used, passed = processor_seconds(side.service.pid) - before, time.perf_counter() - begin
    return rate, used / (rate * passed)


def _resident(service: Service) -> float:
    """Return the resident memory of a process in MiB (proc(5), VmRSS)."""
    lines = Path(f"/proc/{service.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def measure(reference: str, *, seconds: int, rounds: int) -> list[str]:
    """Return the lines of the table."""
    trees = {"now": ROOT, "then": build(reference)}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="frepo-against-")))
        started = {name: start(tree, folder / name) for name, tree in trees.items()}
        sides = {name: side for name, (side, _) in started.items()}
        for side in sides.values():
            stack.callback(side.service.stop)
        time.sleep(5)
        memory = {name: _resident(side.service) for name, side in sides.items()}
        rows = [_row(name, _in_turns(sides, work, rounds)) for name, work in works(seconds).items()]
    starts = {name: used for name, (_, used) in started.items()}
    day, commit = machine(full=seconds > 1)["day"], _git("rev-parse", "--short=10", "HEAD")
    return [
        f"{commit} : {reference} on {day}, medians of {rounds} rounds in turns.",
        "",
        "| Work | rate, now : then | now | processor time for each, now : then | now |",
        "|---|---|---|---|---|",
        *rows,
        f"| memory after the start | | | {memory['now'] / memory['then']:.2f} | {memory['now']:.0f} MiB |",
        f"| start, until the first answer | | | {starts['now'] / starts['then']:.2f} | {starts['now']:.2f} s |",
    ]


def _in_turns(sides: Mapping[str, Side], work: Callable[[Side], float], rounds: int) -> dict[str, list[Sample]]:
    samples: dict[str, list[Sample]] = {name: [] for name in sides}
    for turn in range(rounds + 1):  # the first one warms up
        for name in sorted(sides, reverse=bool(turn % 2)):
            sample = _sample(sides[name], work)
            if turn:
                samples[name].append(sample)
    return samples


def _row(name: str, samples: Mapping[str, list[Sample]]) -> str:
    def median(side: str, part: int) -> float:
        return statistics.median(sample[part] for sample in samples[side])

    rates, times = ({side: median(side, part) for side in samples} for part in (0, 1))
    return (
        f"| {name} | {rates['now'] / rates['then']:.2f} | {rates['now']:.4g}/s "
        f"| {times['now'] / times['then']:.2f} | {times['now'] * 1000:.3g} ms |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.against", description=__doc__)
    parser.add_argument("reference", metavar="REF", help="a commit")
    parser.add_argument("--short", action="store_true", help="one second and one round for each: only to try it")
    options = parser.parse_args()
    seconds, rounds = (1, 1) if options.short else (4, RUNS)
    print("\n".join(measure(options.reference, seconds=seconds, rounds=rounds)))


if __name__ == "__main__":
    main()
