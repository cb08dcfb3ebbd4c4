"""Measures what second copies cost: `python -m benchmarks.mirror [--blobs N] [--requests N] [--earlier FOLDER]`.

1. An upload to a service without a mirror, to one whose job is paused, and to one whose job copies a backlog at the
   default rate. `--earlier` is a clone of an earlier commit; its code answers as a fourth service.
2. The rate at which the job copies small contents, against store, stat, open and delete of the same, four at once.

The services take turns after each request, and the two rates after each thousand contents, so that a busy moment
affects all or none. Medians of the time by the clock and of processor time are compared.
"""

import argparse
import contextlib
import hashlib
import http.client
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

from sqlalchemy import insert
from sqlalchemy.orm import Session

from frepo_core import assemble
from frepo_core.db import migrations, utc_now
from frepo_core.db.models import Content, StoredObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.plugins import StorageBackend
from frepo_core.services.composition.container import Services
from support.servers.service import Service

from .harness.client import make_file, post_file
from .harness.world import folder, frepo, headers
from .metrics import processor_seconds

SIZES = {"4 KiB": 4096, "4 MiB": 4 << 20}
SMALL = 1000  # bytes
BATCH = 1000
BACKLOG, LARGE = 40, 48 << 20  # 96 s at 20 MB/s
MIRROR = {"STORAGES": "offsite", "STORAGE_OFFSITE_ADAPTER": "local", "MIRROR": "offsite"}
Samples = dict[str, list[tuple[float, float]]]


def main() -> None:
    """Print the medians and their ratios."""
    parser = argparse.ArgumentParser(prog="benchmarks.mirror", description=__doc__)
    parser.add_argument("--blobs", type=int, default=10_000, help="how many small contents are copied; 0: none")
    parser.add_argument("--requests", type=int, default=200, help="how many uploads of each size; 0: none")
    parser.add_argument("--earlier", type=Path, help="a clone of an earlier commit")
    options = parser.parse_args()
    with folder() as where:
        if options.requests:
            measure_uploads(where, options.requests, options.earlier)
        if options.blobs:
            measure_copies(where, options.blobs)


def measure_uploads(where: Path, count: int, earlier: Path | None) -> None:
    """Print what an upload costs each service. The job that copies gets a backlog that lasts."""
    with contextlib.ExitStack() as stack:

        def start(name: str, ini: Path | None = None, /, **environment: str) -> Service:
            return stack.enter_context(frepo(where / name, ini, **environment))

        services = {"no mirror": start("none")}
        if earlier:
            sources = ":".join(str(path) for path in sorted(earlier.resolve().glob("frepo_*/src")))
            services = {"earlier": start("earlier", earlier / "development.ini", PYTHONPATH=sources)} | services
        for name, job in (("paused", "off"), ("copying", "every 1m")):
            offsite = {"STORAGE_OFFSITE_DIRECTORY": str(where / name / "offsite"), "JOBS_MIRROR": job}
            services[name] = start(name, **MIRROR, **offsite)
        for size_name, size in SIZES.items():
            _add_backlog(where, services["copying"])
            samples: Samples = {name: [] for name in services}
            for number in range(count + 5):
                for name in sorted(services, key=lambda name: hashlib.sha256(f"{number}{name}".encode()).digest()):
                    sample = _upload(services[name], os.urandom(size))
                    if number >= 5:
                        samples[name].append(sample)
            _print(f"an upload of {size_name}", samples, "ms", 1e3)


def _add_backlog(where: Path, service: Service) -> None:
    """Upload contents until the job has enough to copy for the measurement, and wait until it copies."""
    copies = where / "copying/offsite"
    before = len(list(copies.glob("*/*")))
    for number in range(BACKLOG):
        large = make_file(where / f"large-{number}", LARGE)
        post_file(service.address, "/repository/file/upload?fileName=a.bin", large, headers(service))
        large.unlink()
    while len(list(copies.glob("*/*"))) <= before:
        time.sleep(0.1)


def _upload(service: Service, content: bytes) -> tuple[float, float]:
    """Return the seconds by the clock, and the processor time of the service."""
    connection = http.client.HTTPConnection(service.address)
    connection.connect()
    began, used = time.perf_counter(), processor_seconds(service.pid)
    connection.request("POST", "/repository/file/upload?fileName=a.bin", content, headers(service))
    answer = connection.getresponse()
    answer.read()
    sample = time.perf_counter() - began, processor_seconds(service.pid) - used
    connection.close()
    if answer.status >= 300:
        raise RuntimeError(f"an upload was answered with {answer.status}")
    return sample


def measure_copies(where: Path, count: int) -> None:
    """Print how many small contents a second the job copies, and how many the same four operations handle."""
    offsite = where / "offsite"
    ini = {"app.env": "test", "app.secret": "a", "enc.token_phrase": "a" * 20, "mirror.rate": "0"} | {
        "database.url": f"sqlite:///{where}/copies.db",
        "fs.adapter": "local",
        "fs.local.directory": str(where / "first"),
        "temp_directory": str(where / "temporary"),
        "storages": "offsite",
        "storage.offsite.adapter": "local",
        "storage.offsite.directory": str(offsite),
        "mirror": "offsite",
    }
    services = assemble(ini, {})
    migrations.upgrade(services.database.engine)
    mirror = services.feature(SecondCopyServices).mirror
    mirror.run("offsite", keep_going=_nothing, progress=_nothing)  # it marks the storage
    samples: Samples = {"operations": [], "the job": []}
    for start in range(0, count, BATCH):
        contents = [b"%0*d" % (SMALL, number) for number in range(start, min(count, start + BATCH))]
        _add(services, contents)
        works = {
            "operations": lambda contents=contents: _operate(services.backends.get("offsite"), contents),
            "the job": lambda contents=contents: _mirror(services, len(contents)),
        }
        for name in sorted(works, reverse=bool(start // BATCH % 2)):
            began, used = time.perf_counter(), time.process_time()
            works[name]()
            seconds = time.perf_counter() - began, time.process_time() - used
            samples[name].append((seconds[0] / len(contents), seconds[1] / len(contents)))
    services.database.engine.dispose()
    _print(f"each of {count} contents of {SMALL} bytes", samples, "ms", 1e3)


def _add(services: Services, contents: list[bytes]) -> None:
    """Store contents in the first storage, with the rows that an upload inserts for a second copy."""
    first, now = services.backends.get("local"), utc_now()
    rows = []
    for content in contents:
        digest = hashlib.sha256(content).hexdigest()
        rows.append((digest, new_blob_key(digest), len(content)))
        first.store(rows[-1][1], BytesIO(content), len(content))

    def work(session: Session) -> None:
        for digest, key, size in rows:
            content = {"digest": digest, "size": size, "checksum": "ab" * 16, "mime": "text/plain", "created_at": now}
            content_id = session.scalar(insert(Content).values(content).returning(Content.id))
            each = {"content_id": content_id, "digest": digest, "size": size, "slot": 1, "since": now}
            stored = {"storage": "local", "key": key, "state": "present", "stored_at": now}
            session.execute(insert(StoredObject).values(each | stored))
            wanted = {"storage": "offsite", "state": "wanted", "role": "copy", "next_try": now}
            session.execute(insert(StoredObject).values(each | wanted))

    services.database.write(work)


def _operate(storage: StorageBackend, contents: list[bytes]) -> None:
    def work(content: bytes) -> None:
        key = new_blob_key(hashlib.sha256(content).hexdigest())
        storage.store(key, BytesIO(content), len(content))
        storage.stat(key)
        with storage.open(key) as stream:
            stream.read()
        storage.delete(key)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, contents))


def _mirror(services: Services, expected: int) -> None:
    report = services.feature(SecondCopyServices).mirror.run("offsite", keep_going=_nothing, progress=_nothing)
    if report.copied != expected:
        raise RuntimeError(f"{report.copied} of {expected} contents were copied: {report.problem}")


def _nothing(*_: object) -> None:
    pass


def _print(what: str, samples: Samples, unit: str, factor: float) -> None:
    """Print the medians of each, and their ratio to those of the first."""
    first = next(iter(samples.values()))
    print(what)
    for name, found in samples.items():
        clock, processor = (statistics.median(each[kind] for each in found) for kind in (0, 1))
        ratios = [statistics.median(each[kind] for each in first) for kind in (0, 1)]
        print(
            f"  {name:10} {clock * factor:8.2f} {unit} by the clock ({clock / ratios[0]:.2f}), "
            f"{processor * factor:8.2f} {unit} of processor time ({processor / ratios[1]:.2f})"
        )


if __name__ == "__main__":
    main()
