"""Measures the memory of a worker during ten concurrent large uploads, on every backend."""

import contextlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.servers import ceph, proftpd
from support.servers.service import Service

from .harness.client import make_file, post_file, stamp
from .harness.measure import Results, Row, Sizes
from .harness.world import folder, forget, frepo, headers
from .transfers import name

TEN = 10
REACH = 64 << 20


def run(results: Results, sizes: Sizes) -> None:
    """Measure the peak above the idle process."""
    large = (1024 if sizes.full else 64) << 20
    little = 256 << 20  # the S3 store of the tests keeps its 4 GiB in memory
    backends = (("local", _local, large), ("S3", s3, little), ("FTP", _ftp, large))
    for backend, settings, size in backends if sizes.full else backends[:1]:
        with contextlib.ExitStack() as stack:
            environment = stack.enter_context(settings(results))
            if environment is None:
                continue
            where = stack.enter_context(folder())
            service = stack.enter_context(frepo(where / "service", **environment))
            grown = _grown(service, where, size)
        text = f"{backend}: memory that ten uploads of {size >> 20} MiB at once take : 64 MiB"
        row = Row(group="memory", name=text, ours=[grown], theirs=[REACH], unit="B", ratio=grown / REACH, reach=1.0)
        results.add(row)


def _grown(service: Service, where: Path, size: int) -> float:
    files = [make_file(where / str(number), size) for number in range(TEN)]
    for file in files:
        stamp(file)
    little = make_file(where / "little", 4096)
    post_file(service.address, name(), little, headers(service))
    idle = status(service.pid)["VmRSS"]
    with ThreadPoolExecutor(TEN) as threads:
        list(threads.map(lambda file: post_file(service.address, name(), file, headers(service)), files))
    forget(service)
    return status(service.pid)["VmHWM"] - idle


def status(pid: int) -> dict[str, float]:
    """Return the sizes in /proc/PID/status, in bytes."""
    lines = [line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return {line[0].rstrip(":"): float(line[1]) * 1024 for line in lines if line[-1] == "kB"}


@contextlib.contextmanager
def _local(results: Results) -> Iterator[dict[str, str] | None]:
    yield {}


@contextlib.contextmanager
def s3(results: Results) -> Iterator[dict[str, str] | None]:
    """Run a Ceph; yield the settings of a service on it, or None if Ceph is not installed."""
    if ceph.missing_programs():
        results.skipped["S3"] = ceph.NOT_INSTALLED
        yield None
        return
    from frepo_storage_s3.backend import make_client
    from frepo_storage_s3.settings import S3Settings

    with ceph.ceph_cluster() as cluster, cluster.gateway() as gateway:
        settings = {"bucket": "frepo", "endpoint": gateway.endpoint, "region": cluster.region, "key": cluster.key}
        settings |= {"secret": cluster.secret, "addressing_style": "path"}
        make_client(S3Settings.model_validate(settings)).create_bucket(Bucket="frepo")
        yield {"FS_ADAPTER": "awss3v3"} | {f"FS_AWSS3V3_{name.upper()}": value for name, value in settings.items()}


@contextlib.contextmanager
def _ftp(results: Results) -> Iterator[dict[str, str] | None]:
    if proftpd.MISSING:
        results.skipped["FTP"] = proftpd.MISSING
        yield None
        return
    with proftpd.run_proftpd(tls=False) as server:
        settings = {
            "host": "127.0.0.1",
            "port": str(server.port),
            "username": proftpd.USER,
            "password": proftpd.PASSWORD,
        }
        settings |= {"root": str(server.root) if os.geteuid() else ""}
        yield {"FS_ADAPTER": "ftp"} | {f"FS_FTP_{name.upper()}": value for name, value in settings.items()}
