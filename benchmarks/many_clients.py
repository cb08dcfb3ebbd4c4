"""Measures small requests of many clients to two processes, while large files are uploaded and downloaded."""

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from support.servers.service import Service

from .harness.client import PersistentConnection, fetch, make_file, post_file, stamp
from .harness.measure import Results, Sizes, alternate, compare_with_goal
from .harness.world import folder, headers, two_processes
from .small import MISSING, wrk
from .transfers import name

OPEN = 500  # connections
BUSY = 50  # of them, that send requests without a pause
TRANSFERS = 10  # half of them uploads, half downloads
REACH = 0.05  # seconds


def run(results: Results, sizes: Sizes) -> None:
    """Compare the 99th percentile of the latency with 50 ms, without and with large transfers."""
    if MISSING:
        results.skipped["many_clients"] = MISSING
        return
    with folder() as where, two_processes(where / "service") as services, _idle_connections(services):
        files = [make_file(where / f"sent{number}", sizes.middle) for number in range(TRANSFERS // 2)]
        kept = post_file(services[0].address, name(), files[0], headers(services[0]))["filename"]
        stored = set(services[0].storage.glob("*/*"))

        def loaded() -> float:
            with _transfers(services, files, f"/repository/file/{kept}"):
                seconds = _p99(services, sizes)
            for path in set(services[0].storage.glob("*/*")) - stored:
                path.unlink()
            return seconds

        samples = alternate({"alone": partial(_p99, services, sizes), "loaded": loaded})
    text = f"p99 of {BUSY} busy ones of {OPEN} clients, two processes"
    results.add(compare_with_goal("many_clients", f"{text} : 50 ms", samples["alone"], REACH))
    text = f"{text}, with {TRANSFERS} transfers of {sizes.middle >> 20} MiB"
    results.add(compare_with_goal("many_clients", f"{text} : 50 ms", samples["loaded"], REACH))


@contextlib.contextmanager
def _idle_connections(services: list[Service]) -> Iterator[None]:
    """Keep connections open that were used once."""
    connections = []
    for service, _ in zip(itertools.cycle(services), range(OPEN - BUSY), strict=False):
        connections.append(PersistentConnection(service.address, headers(services[0])))
        connections[-1].ask("GET", "/version")
    yield
    for connection in connections:
        connection.close()


def _p99(services: list[Service], sizes: Sizes) -> float:
    """Send small requests to all processes at once; return the 99th percentile of the slower process, in seconds."""
    header = f"X-Auth-Token: {services[0].admin}"

    def sample(service: Service) -> float:
        return wrk(f"{service.url}/version", BUSY // len(services), sizes.seconds, header)["p99"]

    with ThreadPoolExecutor(len(services)) as threads:
        return max(threads.map(sample, services))


@contextlib.contextmanager
def _transfers(services: list[Service], files: list[Path], path: str) -> Iterator[None]:
    """Upload each file with new content, and download the path as often, again and again until the block ends."""
    ends = threading.Event()

    def upload(service: Service, file: Path) -> None:
        stamp(file)
        post_file(service.address, name(), file, headers(services[0]))

    def repeat(work: Callable[[], object]) -> None:
        while not ends.is_set():
            work()

    turns = itertools.cycle(services)
    works: list[Callable[[], object]] = [partial(upload, next(turns), file) for file in files]
    works += [partial(fetch, next(turns).address, path) for _ in files]
    with ThreadPoolExecutor(len(works)) as threads:
        running = [threads.submit(repeat, work) for work in works]
        try:
            yield
        finally:
            ends.set()
    for each in running:
        each.result()
