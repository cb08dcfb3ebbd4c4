"""Measures what one version of 20 MB costs the service, and what frepo-client needs before it does anything.

Both are processor time, which depends less on what else the machine does than the time by the clock.
"""

import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from frepo_client.zipapp import build
from support.servers.service import Service

from .harness.client import PersistentConnection
from .harness.measure import RUNS, Results, Sizes, compare_with_goal
from .harness.world import folder, frepo
from .small import processor_seconds

SIZE, COUNT = 20_000_000, 4
# Seconds for one version, as it is and with gzip on the way, which the service undoes; and for a start of the client.
PLAIN, GZIP, START = 0.12, 0.2, 0.12
# Until copies that are made after the answer are there, in seconds.
REST = 3.0


def measure_versions(results: Results, sizes: Sizes) -> None:
    """Measure versions as they are and with gzip, with each kind of work of the service."""
    runs = RUNS if sizes.full else 2
    for kind in ("as it comes", "with compact", "with a mirror", "sealed"):
        with folder() as where, frepo(where / "service", **_settings(kind, where)) as service:
            for coding, goal in (("", PLAIN), ("gzip", GZIP)):
                connection, path = _open(service, coding, f"{kind} {coding}")
                _send(service, connection, path, coding)  # the first one fills caches
                samples = [_send(service, connection, path, coding) for _ in range(runs)]
                way = "with gzip on the way" if coding else "plain"
                what = f"processor time of the service for a version of 20 MB, {way}, {kind} : {goal} s"
                results.add(compare_with_goal("night", what, samples, goal))


def measure_client(results: Results, python: str) -> None:
    """Measure the start of the client, up to the help of the command that makes backups."""
    with tempfile.TemporaryDirectory() as name:
        program = Path(name, "frepo-client.pyz")
        program.write_bytes(build())
        command = [python, str(program), "run", "--help"]
        samples = [_children_seconds(command) for _ in range(RUNS + 1)][1:]
    results.add(compare_with_goal("night", f"processor time of frepo-client's start : {START} s", samples, START))


def _settings(kind: str, where: Path) -> Mapping[str, str]:
    if kind == "with compact":
        return {"COMPACT": "true"}
    if kind == "with a mirror":
        offsite = {"STORAGE_OFFSITE_ADAPTER": "local", "STORAGE_OFFSITE_DIRECTORY": str(where / "offsite")}
        return {"STORAGES": "offsite", "MIRROR": "offsite", **offsite}
    if kind == "sealed":
        keys = where / "sealed.keys"
        subprocess.run(
            [Path(sys.executable).with_name("frepo"), "sealed:new-key", str(keys)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return {"FS_ADAPTER": "sealed", "FS_SEALED_OVER": "local", "FS_SEALED_KEY_FILE": str(keys)}
    return {}


def _open(service: Service, coding: str, name: str) -> tuple[PersistentConnection, str]:
    """Return a connection whose bodies have this coding, and the path of the versions of a new collection."""
    token = {"Authorization": f"Bearer {service.admin}"}
    made = PersistentConnection(service.address, token)
    collection = json.loads(made.ask("POST", "/api/v1/collections", json.dumps({"name": f"{name}.sql"}).encode()))["id"]
    made.close()
    more = {"Content-Encoding": coding} if coding else {}
    return PersistentConnection(service.address, token | more), f"/api/v1/collections/{collection}/versions"


def _send(service: Service, connection: PersistentConnection, path: str, coding: str) -> float:
    """Send different dumps; return the processor seconds of the service for each."""
    dumps = [_dump() for _ in range(COUNT)]
    bodies = [gzip.compress(one, 1) if coding else one for one in dumps]
    before = processor_seconds(service.pid)
    for body in bodies:
        connection.ask("POST", path, body)
    time.sleep(REST)
    return (processor_seconds(service.pid) - before) / COUNT


def _dump() -> bytes:
    line = "INSERT INTO `orders` VALUES ({},'{}');\n"
    rows = "".join(line.format(number, os.urandom(40).hex()) for number in range(SIZE // 110))
    head = "-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)\n"
    return f"{head}{rows}-- Dump completed on 2026-05-01  2:15:00\n".encode()


def _children_seconds(command: list[str]) -> float:
    def used() -> float:
        found = resource.getrusage(resource.RUSAGE_CHILDREN)
        return found.ru_utime + found.ru_stime

    before = used()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return used() - before
