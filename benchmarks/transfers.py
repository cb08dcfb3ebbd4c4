"""Measures ways of sending large files, and their downloads, on the local storage."""

import base64
import itertools
from collections.abc import Callable
from pathlib import Path

from support.servers import nginx as nginx_server
from support.servers.service import Service

from .harness import receivers
from .harness.client import fetch, make_file, post_chunked, post_file, stamp
from .harness.measure import Results, Sizes, alternate, compare, timed
from .harness.world import folder, forget, frepo, headers

_numbers = itertools.count()
EDGE = "frepo-edge"


def run(results: Results, sizes: Sizes) -> None:
    """Measure ways of sending, and downloads."""
    with folder() as where, frepo(where / "service") as service:
        _ways(results, sizes, service, where)
        _downloads(results, sizes, service, where)


def name() -> str:
    """Return a path to upload to."""
    return f"/repository/file/upload?fileName=bench{next(_numbers)}.bin"


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
            "tiny": _hundred(lambda: fetch(service.address, paths[tiny], last)),  # whole, it would come from memory
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
        frepo(service.folder, **accel) as hidden,
        nginx_server.nginx([hidden.address], storage=service.storage) as front,
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
