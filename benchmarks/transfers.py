"""Measures uploads and downloads of large files on the local storage."""

import base64
import itertools
import json
import shutil
import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from support.servers import nginx as nginx_server
from support.servers.service import Service

from . import receivers
from .client import PersistentConnection, fetch, make_file, post_chunked, post_file, stamp
from .measure import Results, Sizes, alternate, compare, timed
from .world import folder, forget, frepo, headers

_numbers = itertools.count()
EDGE = "frepo-edge"
MEMORY = Path("/dev/shm")
AT_ONCE = (2, 4)


def run(results: Results, sizes: Sizes) -> None:
    """Measure uploads, ways of sending, and downloads; uploads also without a disk, because the disk may limit them."""
    with folder() as where, frepo(where / "service") as service:
        _uploads(results, sizes, service, where, "to disk")
        _at_once(results, sizes, service, where, "to disk")
        _ways(results, sizes, service, where)
        _downloads(results, sizes, service, where)
    if not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < 5 * sizes.big:
        results.skipped["uploads to memory"] = f"{MEMORY} is no tmpfs with room for five files"
        return
    with folder(MEMORY) as where, frepo(where / "service") as service:
        _uploads(results, sizes, service, where, "to memory")
        _at_once(results, sizes, service, where, "to memory")


def name() -> str:
    """Return a path to upload to."""
    return f"/repository/file/upload?fileName=bench{next(_numbers)}.bin"


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
        samples = alternate(works | yardsticks)
    slower = max(yardsticks, key=lambda yardstick: statistics.median(samples[yardstick]))
    for way in works:
        what = f"{way} of {sizes.big >> 20} MiB {at} : openssl dgst or nginx"
        note = f"the slower of the two: {slower}"
        results.add(compare("transfers", what, samples[way], samples[slower], reach=1.25, note=note))
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
        results.add(compare("transfers", what, samples[str(count)], samples["1"], **more))
    for file in files:
        file.unlink()


def _ways(results: Results, sizes: Sizes, service: Service, where: Path) -> None:
    raw = make_file(where / "raw", sizes.middle)
    encoded = where / "encoded"
    encoded.write_bytes(base64.b64encode(raw.read_bytes()))
    head = f'--{EDGE}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'.encode()
    form = headers(service) | {"Content-Type": f"multipart/form-data; boundary={EDGE}"}
    address, plain = service.address, headers(service)

    def fresh(send: Callable[[], object]) -> Callable[[], float]:
        def sample() -> float:
            mark = stamp(raw)
            with encoded.open("r+b") as content:
                content.write(base64.b64encode(mark))
            seconds = timed(send)()
            forget(service)
            return seconds

        return sample

    def twice() -> float:
        stamp(raw)
        post_file(address, name(), raw, plain)
        before = _stored(service)
        seconds = timed(lambda: post_file(address, name(), raw, plain))()
        assert _stored(service) == before, "a duplicate was stored"
        forget(service)
        return seconds

    samples = alternate(
        {
            "raw": fresh(lambda: post_file(address, name(), raw, plain)),
            "multipart": fresh(
                lambda: post_file(address, name(), raw, form, around=(head, f"\r\n--{EDGE}--\r\n".encode()))
            ),
            "base64": fresh(lambda: post_file(address, f"{name()}&encoding=base64", encoded, plain)),
            "chunked": fresh(lambda: post_chunked(address, name(), raw, plain)),
            "duplicate": twice,
        }
    )
    for way, reach in (("multipart", 1.7), ("base64", 1.6), ("chunked", 1.1), ("duplicate", 1.0)):
        what = f"{way} upload of {sizes.middle >> 20} MiB : raw"
        results.add(compare("transfers", what, samples[way], samples["raw"], reach=reach))


def _stored(service: Service) -> int:
    return sum(path.stat().st_size for path in service.storage.glob("*/*"))


def _downloads(results: Results, sizes: Sizes, service: Service, where: Path) -> None:
    big, tiny = make_file(where / "big", sizes.big), make_file(where / "tiny", 100)
    paths = {}
    for file in (big, tiny):
        answer = post_file(service.address, name(), file, headers(service))
        paths[file] = f"/repository/file/{answer['filename']}"
    last = {"Range": "bytes=-100"}
    samples = alternate(
        {
            "range": _hundred(lambda: fetch(service.address, paths[big], last)),
            "tiny": _hundred(lambda: fetch(service.address, paths[tiny])),
        }
    )
    size = f"{sizes.big >> 20} MiB"
    results.add(
        compare("transfers", f"last 100 bytes of {size} : 100-byte file", samples["range"], samples["tiny"], reach=1.2)
    )
    if nginx_server.MISSING:
        results.skipped["download : nginx"] = nginx_server.MISSING
        return
    stored = next(path for path in service.storage.glob("*/*") if path.stat().st_size == sizes.big)
    accel = service.environment | {"FS_ACCEL_REDIRECT": "/_blobs", "TRUSTED_PROXIES": "127.0.0.1"}
    with (
        receivers.nginx(service.storage) as static_address,
        frepo(service.folder, **accel) as behind,
        nginx_server.nginx([behind.address], storage=service.storage) as front,
    ):
        nginx = timed(lambda: fetch(static_address, f"/{stored.relative_to(service.storage)}"))
        alone = alternate({"theirs": nginx, "ours": timed(lambda: fetch(service.address, paths[big]))}, runs=7)
        # nginx does the same in both, except for the request to frepo; many runs reduce the noise of the difference.
        behind = alternate({"theirs": nginx, "ours": timed(lambda: fetch(front.address, paths[big]))}, runs=31)
    for what, samples, reach in (("", alone, 0.8), (" behind nginx, X-Accel", behind, 0.97)):
        speed = {whose: [sizes.big / seconds / 1e6 for seconds in taken] for whose, taken in samples.items()}
        more = {"reach": reach, "is_most": False, "unit": "MB/s"}
        results.add(compare("transfers", f"download of {size}{what} : nginx", speed["ours"], speed["theirs"], **more))


def _hundred(work: Callable[[], object]) -> Callable[[], float]:
    return timed(lambda: [work() for _ in range(100)])
