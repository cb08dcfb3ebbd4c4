"""Measures this tree and another commit in turns: `make bench-against REF=6c3d1555`.

The commit is checked out and installed in `build/against`. Both services run at the same time, and one after the other
gets the same load: five rounds, of which the medians count. Run it on a machine that does nothing else.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from support.client import COLLECTIONS
from support.paths import ROOT
from support.servers.service import Service

from .harness.client import make_file, post_file, stamp
from .harness.measure import RUNS, Sizes, machine
from .harness.world import HUGE, headers
from .memory import status
from .small import processor_seconds, uploads, wrk

FOLDER = ROOT / "build/against"
BIG = 256 << 20
# A sample: a rate, and the processor seconds for each; or another figure and them.
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


def open_side(tree: Path, folder: Path) -> Side:
    """Start the service of a tree, with a file and a collection in it."""
    folder.mkdir()
    quiet = folder / "quiet.ini"
    text = (tree / "development.ini").read_text()
    quiet.write_text(text.replace("%(here)s", str(folder)).replace("level = INFO", "level = WARNING"))
    service = Service(folder, HUGE, ini=quiet, programs=tree / ".venv/bin")
    service.start()
    small = make_file(folder / "small", 4096)
    name = post_file(service.address, "/repository/file/upload?fileName=small.bin", small, headers(service))["filename"]
    return Side(service=service, folder=folder, stored=name, collection=_create(service))


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
        "upload of 256 MiB": partial(_send_big, count=seconds),
    }


def _send_big(side: Side, *, count: int) -> float:
    """Upload `count` large files: the times of single ones differ by a third."""
    big, passed = side.folder / "big", 0.0
    if not big.exists():
        make_file(big, BIG)
    for _ in range(count):
        stamp(big)
        begin = time.perf_counter()
        post_file(side.service.address, "/repository/file/upload?fileName=big.bin", big, headers(side.service))
        passed += time.perf_counter() - begin
    return count / passed


def _sample(side: Side, work: Callable[[Side], float]) -> Sample:
    begin, before = time.perf_counter(), processor_seconds(side.service.pid)
    rate = work(side)
    used, passed = processor_seconds(side.service.pid) - before, time.perf_counter() - begin
    return rate, used / (rate * passed)


def measure(reference: str, *, seconds: int, rounds: int) -> Iterator[str]:
    """Yield the lines of the table, each as soon as it is measured."""
    trees = {"now": ROOT, "then": build(reference)}
    day, commit = machine(full=seconds > 1)["day"], _git("rev-parse", "--short=8", "HEAD")
    yield f"Commit {commit} and {reference} on {day}, medians of {rounds} rounds in turns:\n"
    yield "| Work | rate, now : then | now | processor time for each, now : then | now |"
    yield "|---|---|---|---|---|"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="frepo-against-")))
        sides = {name: open_side(tree, folder / name) for name, tree in trees.items()}
        for side in sides.values():
            stack.callback(side.service.stop)
        yield from _starts(sides, rounds, settle=5 if seconds > 1 else 0)
        yield from _commands(sides, rounds)
        for name, work in works(seconds).items():
            yield _row(name, _in_turns(sides, work, rounds))


def _starts(sides: Mapping[str, Side], rounds: int, *, settle: int) -> Iterator[str]:
    """Yield the rows of starts, up to the first answer, and of the memory some seconds later."""

    def start(side: Side) -> Sample:
        side.service.stop()
        side.service.start()
        used = processor_seconds(side.service.pid)
        time.sleep(settle)
        return status(side.service.pid)["VmRSS"] / (1 << 20), used

    samples = _alternate(sides, start, rounds)
    for place, name, unit in ((1, "start, until the first answer", "s"), (0, "memory after the start", "MiB")):
        now, then = (_median(samples[side], place) for side in ("now", "then"))
        yield f"| {name} | | | {now / then:.2f} | {now:.3g} {unit} |"


def _commands(sides: Mapping[str, Side], rounds: int) -> Iterator[str]:
    """Yield the rows of commands."""
    for arguments in (["--help"], ["auth:list"], ["status"]):

        def run(side: Side, arguments: list[str] = arguments) -> Sample:
            service, before = side.service, _children_seconds()
            ini = [] if arguments == ["--help"] else ["--ini", str(service.ini)]
            command = [str(service.programs / "frepo"), *ini, *arguments]
            subprocess.run(command, env=service.environment, check=False, capture_output=True)  # status may be 2
            return 0, _children_seconds() - before

        samples = _alternate(sides, run, rounds)
        now, then = (_median(samples[side], 1) for side in ("now", "then"))
        yield f"| `frepo {arguments[0]}` | | | {now / then:.2f} | {now:.2g} s |"


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _alternate(sides: Mapping[str, Side], work: Callable[[Side], Sample], rounds: int) -> dict[str, list[Sample]]:
    samples: dict[str, list[Sample]] = {name: [] for name in sides}
    for turn in range(rounds + 1):  # the first one warms up
        for name in sorted(sides, reverse=bool(turn % 2)):
            sample = work(sides[name])
            if turn:
                samples[name].append(sample)
    return samples


def _median(samples: Sequence[Sample], place: int) -> float:
    return statistics.median(sample[place] for sample in samples)


def _in_turns(sides: Mapping[str, Side], work: Callable[[Side], float], rounds: int) -> dict[str, list[Sample]]:
    return _alternate(sides, lambda side: _sample(side, work), rounds)


def _row(name: str, samples: Mapping[str, list[Sample]]) -> str:
    rates, times = ({side: _median(samples[side], place) for side in samples} for place in (0, 1))
    return (
        f"| {name} | {rates['now'] / rates['then']:.2f} | {rates['now']:.4g}/s "
        f"| {times['now'] / times['then']:.2f} | {times['now'] * 1000:.3g} ms |"
    )


def main() -> None:
    """Print the table, in Markdown."""
    parser = argparse.ArgumentParser(prog="benchmarks.against", description=__doc__)
    parser.add_argument("reference", metavar="REF", help="a commit")
    parser.add_argument("--short", action="store_true", help="one second and one round for each: only to try it")
    options = parser.parse_args()
    seconds, rounds = (1, 1) if options.short else (4, RUNS)
    for line in measure(options.reference, seconds=seconds, rounds=rounds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
