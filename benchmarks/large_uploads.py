"""Compares large uploads with programs in C, and several at once with one."""

import json
import shutil
import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from support.servers.service import Service

from .harness import receivers
from .harness.client import PersistentConnection, make_file, post_chunked, post_file, stamp
from .harness.measure import Results, Sizes, alternate, compare, timed
from .harness.world import folder, forget, frepo, headers
from .transfers import name

MEMORY = Path("/dev/shm")
AT_ONCE = (2, 4)


def run(results: Results, sizes: Sizes) -> None:
    """Measure uploads to a disk, and without a disk, because the disk may limit them."""
    with folder() as where, frepo(where / "service") as service:
        _uploads(results, sizes, service, where, "to disk")
        _at_once(results, sizes, service, where, "to disk")
    if not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < 5 * sizes.big:
        results.skipped["uploads to memory"] = f"{MEMORY} is no tmpfs with room for five files"
        return
    with folder(MEMORY) as where, frepo(where / "service") as service:
        _uploads(results, sizes, service, where, "to memory")
        _at_once(results, sizes, service, where, "to memory")


def _uploads(results: Results, sizes: Sizes, service: Service, where: Path, at: str) -> None:
    """Compare the ways of sending one large upload with the slower of two programs in C."""
    file = make_file(where / "big", sizes.big)
    versions = _collection(service)

    def sample(send: Callable[..., object], path: Callable[[], str], **more: str) -> Callable[[], float]:
        def upload() -> float:
            stamp(file)
            seconds = timed(lambda: send(service.address, path(), file, headers(service), **more))()
            forget(service)
            return seconds

        return upload

    works = {
        "upload": sample(post_file, name),
        "chunked upload": sample(post_chunked, name),
        "PUT": sample(post_file, lambda: versions, method="PUT"),
    }
    with receivers.yardsticks(results, file, where) as yardsticks:
        if not yardsticks:
            return
        copy = {"dd": receivers.synced_copy(file, where)} if at == "to disk" else {}
        samples = alternate(works | yardsticks | copy)
    slower = max(yardsticks, key=lambda yardstick: statistics.median(samples[yardstick]))
    for way in works:
        what = f"{way} of {sizes.big >> 20} MiB {at} : openssl dgst or nginx"
        note = f"the slower of the two: {slower}"
        results.add(compare("uploads", what, samples[way], samples[slower], reach=1.25, note=note))
    if copy:
        what = f"upload of {sizes.big >> 20} MiB {at} : dd, which copies the file and syncs the copy"
        results.add(compare("uploads", what, samples["upload"], samples["dd"], reach=1.25))
    file.unlink()


def _collection(service: Service) -> str:
    """Create a collection without limits; return the path to which versions are sent."""
    connection = PersistentConnection(service.address, headers(service) | {"Content-Type": "application/json"})
    made = json.loads(connection.ask("POST", "/api/v1/collections", b'{"name": "bench", "limits": {"versions": 1000}}'))
    return f"/api/v1/collections/{made['id']}/versions"


def _at_once(results: Results, sizes: Sizes, service: Service, where: Path, at: str) -> None:
    """Compare the throughput of concurrent uploads with that of one."""
    files = [make_file(where / f"part{number}", sizes.middle) for number in range(max(AT_ONCE))]

    def throughput(count: int) -> float:
        """Upload new files concurrently; return their throughput together, in MB/s."""
        for file in files[:count]:
            stamp(file)
        with ThreadPoolExecutor(count) as threads:
            send = partial(post_file, service.address, headers=headers(service))
            seconds = timed(lambda: list(threads.map(lambda file: send(name(), file), files[:count])))()
        forget(service)
        return count * sizes.middle / seconds / 1e6

    samples = alternate({count: partial(throughput, int(count)) for count in ("1", *map(str, AT_ONCE))})
    for count in AT_ONCE:
        what = f"{count} uploads of {sizes.middle >> 20} MiB {at} at once, throughput : one"
        more = {"reach": 0.9, "is_most": False, "unit": "MB/s"}
        results.add(compare("uploads", what, samples[str(count)], samples["1"], **more))
    for file in files:
        file.unlink()
