"""Compares uploads in parts (tus) with one PUT of the same file, and measures the memory of ten at once."""

import base64
import contextlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from support.servers.service import Service

from .harness.client import PersistentConnection, make_file, post_file, send_parts, stamp
from .harness.measure import Results, Row, Sizes, alternate, compare, timed
from .harness.tus_server import PATH, tus_server
from .harness.world import folder, forget, frepo, headers
from .memory import REACH, status

MEMORY = Path("/dev/shm")
PART = 16 << 20
TEN = 10


def run(results: Results, sizes: Sizes) -> None:
    """Measure on the disk, and in memory, because the disk may limit both ways."""
    for parent, at in ((None, "to disk"), (MEMORY, "to memory")):
        if parent and (not parent.is_dir() or shutil.disk_usage(parent).free < 5 * sizes.big):
            results.skipped[f"sessions {at}"] = f"{parent} is no tmpfs with room for five files"
            continue
        with folder(parent) as where, frepo(where / "service") as service:
            _compare(results, sizes, service, where, at)
    # All ten are of one token, which may hold a quarter of a quarter of the disk by default.
    room = {"UPLOADS_MAX_TOTAL": str(8 * TEN * sizes.middle)}
    with folder() as where, frepo(where / "service", **room) as service:
        _measure_memory(results, sizes, service, where)


def _compare(results: Results, sizes: Sizes, service: Service, where: Path, at: str) -> None:
    file = make_file(where / "big", sizes.middle)
    collection = _collection(service)

    def put() -> float:
        stamp(file)
        path = f"/api/v1/collections/{collection}/versions"
        seconds = timed(lambda: post_file(service.address, path, file, headers(service), method="PUT"))()
        forget(service)
        return seconds

    def parts() -> float:
        stamp(file)
        seconds = timed(lambda: upload_in_parts(service, collection, file))()
        forget(service)
        return seconds

    with contextlib.ExitStack() as stack:
        works = {"parts": parts, "PUT": put}
        try:
            works["tus"] = timed(partial(_send_to_tus_server, stack.enter_context(tus_server(where)), file))
        except FileNotFoundError as error:
            results.skipped[f"parts to another server of tus {at}"] = str(error)
        samples = alternate(works)
    what = f"upload of {sizes.middle >> 20} MiB {at} in parts of 16 MiB"
    results.add(compare("sessions", f"{what} : one PUT", samples["parts"], samples["PUT"], reach=1.25))
    if "tus" in samples:
        note = "which writes to a file, without a sync, a digest or a token"
        results.add(compare("sessions", f"{what} : @tus/server", samples["parts"], samples["tus"], note=note))


def _measure_memory(results: Results, sizes: Sizes, service: Service, where: Path) -> None:
    size = sizes.middle
    files = [make_file(where / str(number), size) for number in range(TEN)]
    for file in files:
        stamp(file)
    collection = _collection(service)
    upload_in_parts(service, collection, make_file(where / "little", 4096))
    idle = status(service.pid)["VmRSS"]
    with ThreadPoolExecutor(TEN) as threads:
        list(threads.map(lambda file: upload_in_parts(service, collection, file), files))
    grown = status(service.pid)["VmHWM"] - idle
    text = f"memory that ten uploads in parts, of {size >> 20} MiB each, take at once : 64 MiB"
    row = Row(group="sessions", name=text, ours=[grown], theirs=[REACH], unit="B", ratio=grown / REACH, reach=1.0)
    results.add(row)


def upload_in_parts(service: Service, collection: str, file: Path) -> None:
    """Upload a file as a version, with one request for each part."""
    metadata = "collection " + base64.b64encode(collection.encode()).decode()
    more = headers(service) | {"Upload-Metadata": metadata}
    _send_parts(service.address, "/api/v1/uploads", file, more)


def _send_to_tus_server(address: str, file: Path) -> None:
    stamp(file)
    _send_parts(address, PATH, file, {})


def _send_parts(address: str, path: str, file: Path, more: dict[str, str]) -> None:
    size = file.stat().st_size
    tus = more | {"Tus-Resumable": "1.0.0"}
    connection = PersistentConnection(address, tus | {"Upload-Length": str(size)})
    location = connection.locate("POST", path)
    connection.close()
    patch = tus | {"Content-Type": "application/offset+octet-stream"}
    send_parts(address, location, file, patch, PART)


def _collection(service: Service) -> str:
    connection = PersistentConnection(service.address, headers(service) | {"Content-Type": "application/json"})
    made = json.loads(connection.ask("POST", "/api/v1/collections", b'{"name": "bench", "limits": {"versions": 1000}}'))
    connection.close()
    return str(made["id"])
