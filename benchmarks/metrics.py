"""Measures what counting requests costs the processor: `python -m benchmarks.metrics [REQUESTS]`.

Two services answer the same small downloads; only one has `/metrics`. What counts is the processor time of the server's
process, because the elapsed time depends on what else the machine does. The services take turns after each request, and
the median request of each is compared, so that a busy moment affects both or none. The exit status is 1 above the
target.
"""

import contextlib
import http.client
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from support.servers.service import Service

from .harness.client import make_file, post_file
from .harness.world import folder, frepo, headers

REQUESTS = 600  # to each service, for each ratio
RUNS = 10
TARGET = 1.05


def main() -> None:
    """Print the processor time for each request, and the median of the ratios."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS
    with folder() as where, contextlib.ExitStack() as stack:
        small = make_file(where / "small", 4096)
        works = [
            _work(stack.enter_context(frepo(where / name, **environment)), small)
            for name, environment in (("with", {"METRICS_CODE": "code-of-the-measurement"}), ("without", {}))
        ]
        samples = [_sample(works, count) for _ in range(RUNS + 1)][1:]
    ratios = [ours / theirs for ours, theirs in samples]
    for name, seconds in zip(("with", "without"), zip(*samples, strict=True), strict=True):
        print(f"{name:8} {statistics.median(seconds) * 1e6:7.1f} µs of processor time for each request")
    median = statistics.median(ratios)
    print(f"ratio: {median:.3f}, from {min(ratios):.3f} to {max(ratios):.3f}; target: at most {TARGET}")
    sys.exit(median > TARGET)


def _sample(works: list[Callable[[], float]], count: int) -> list[float]:
    """Return the median processor time of `count` requests to each service, in seconds."""
    ours, theirs = works
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(count):
        if number % 2:
            times[0].append(ours())
            times[1].append(theirs())
        else:
            times[1].append(theirs())
            times[0].append(ours())
    return [statistics.median(seconds) for seconds in times]


def _work(service: Service, small: Path) -> Callable[[], float]:
    path = "/repository/file/" + _upload(service, small)
    connection = http.client.HTTPConnection(service.address)

    def work() -> float:
        """Download the file; return the processor time in seconds."""
        before = processor_seconds(service.pid)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"GET {path}: {answer.status}")
        return processor_seconds(service.pid) - before

    return work


def _upload(service: Service, small: Path) -> str:
    """Upload the file; return its stored name."""
    stored = post_file(service.address, "/repository/file/upload?fileName=small.bin", small, headers(service))
    return str(stored["filename"])


def processor_seconds(pid: int) -> float:
    """Return the processor time of all threads of a process, which the kernel counts in nanoseconds."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


if __name__ == "__main__":
    main()
