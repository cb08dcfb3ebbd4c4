"""Compares the archive of PostgreSQL's WAL with `cp` and a sync of each segment, four at once."""

import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.servers.service import Service
from support.wal import name, segment

from .harness.client import PersistentConnection, post_file
from .harness.measure import RUNS, Results, Sizes, alternate, compare, compare_with_goal
from .harness.world import folder, forget, frepo, headers
from .small import processor_seconds

SIZE = 16 << 20
PARALLEL, COUNT = 4, 16
REACH, PROCESSOR = 0.5, 0.040


def run(results: Results, sizes: Sizes) -> None:
    """Push segments that differ, and copy them to the same disk."""
    with folder() as where, frepo(where / "service") as service:
        archive = _Archive(service, where)
        samples = alternate({"push": archive.push, "cp": archive.copy})
        note = f"{PARALLEL} at once, {COUNT} segments of 16 MiB"
        rates = (samples["push"], samples["cp"])
        results.add(
            compare("wal", "segments a second, pushed", *rates, unit="1/s", reach=REACH, is_most=False, note=note)
        )
        used = archive.used[-RUNS:]
        results.add(compare_with_goal("wal", "processor time of the service for a segment", used, PROCESSOR, note=note))


class _Archive:
    """An archive in a service, and a folder for copies. `used` has the processor seconds for each segment, by round."""

    def __init__(self, service: Service, where: Path) -> None:
        self._service, self._where = service, where
        sent = {**headers(service), "Content-Type": "application/json"}
        connection = PersistentConnection(service.address, sent)
        values = {"name": "shop.wal", "strategy": "wal", "limits": {"versions": 0, "total_size": 0}}
        made = json.loads(connection.ask("POST", "/api/v1/collections", json.dumps(values).encode()))
        self._path = f"/api/v1/collections/{made['id']}/wal"
        connection.close()
        self._next = itertools.count(1)
        self.used: list[float] = []

    def push(self) -> float:
        """Push segments; return how many a second."""
        before = processor_seconds(self._service.pid)
        rate = self._rate(self._push)
        self.used.append((processor_seconds(self._service.pid) - before) / COUNT)
        forget(self._service)
        return rate

    def copy(self) -> float:
        """Copy segments, with a sync of each file and of the folder; return how many a second."""
        target = self._where / "copies"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        return self._rate(lambda file: _copy(file, target / file.name))

    def _rate(self, work: Callable[[Path], object]) -> float:
        files = list(self._make())
        with ThreadPoolExecutor(PARALLEL) as threads:
            began = time.perf_counter()
            list(threads.map(work, files))
            passed = time.perf_counter() - began
        for file in files:
            file.unlink()
        return COUNT / passed

    def _make(self) -> Iterator[Path]:
        for index in itertools.islice(self._next, COUNT):
            file = self._where / name(index, size=SIZE)
            file.write_bytes(segment(index, size=SIZE, fill=os.urandom(1)))
            yield file

    def _push(self, file: Path) -> None:
        post_file(self._service.address, f"{self._path}/{file.name}", file, headers(self._service), method="PUT")


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    for path in (target, target.parent):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
