"""Compares the throughput of the storage `sealed` with that of the storage below it, on a disk and on an S3 store."""

import time
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path

from frepo_core.plugins import StorageBackend
from frepo_sealed.backend import SealedStorage
from frepo_sealed.keys import KeyRing
from frepo_storage_local import LocalSettings, LocalStorage

from .harness.client import make_file
from .harness.measure import Results, Sizes, Work, alternate, compare, timed
from .harness.world import folder
from .memory import s3

KEYS = KeyRing([bytes(range(32))])
PIECE = 1 << 20
# The least part of the plain throughput, up and down; None: not promised.
REACHES = {"local": (0.25, None), "S3": (0.6, 0.6)}


def run(results: Results, sizes: Sizes) -> None:
    """Store and read a file in both."""
    size = min(sizes.middle, 256 << 20)  # the S3 store of the tests keeps its 4 GiB in memory
    with folder() as where, s3(results) as environment:
        content = make_file(where / "content", size).read_bytes()
        _compare(results, "local", LocalStorage(LocalSettings(directory=where / "storage")), content)
        if environment is not None:
            _compare(results, "S3", _s3_storage(environment), content)


def _s3_storage(environment: dict[str, str]) -> StorageBackend:
    from frepo_storage_s3 import S3Settings
    from frepo_storage_s3.backend import S3Storage

    prefix = "FS_AWSS3V3_"
    given = {name.removeprefix(prefix).lower(): value for name, value in environment.items() if name.startswith(prefix)}
    return S3Storage(S3Settings.model_validate(given))


def _compare(results: Results, name: str, plain: StorageBackend, content: bytes) -> None:
    backends = {"ours": SealedStorage(plain, KEYS, key_file=Path("keys")), "theirs": plain}

    def store(one: str) -> None:
        backends[one].delete(one)
        backends[one].store(one, BytesIO(content), len(content))

    def read(one: str) -> None:
        with backends[one].open(one) as stored:
            while stored.read(PIECE):
                pass

    for clock_name, clock in {"by the clock": timed, "processor time": _processor_time}.items():
        for way, work, reach in zip(("up", "down"), (store, read), REACHES[name], strict=True):
            samples = alternate({one: clock(partial(work, one)) for one in backends})
            rates = [[len(content) / 1e6 / seconds for seconds in samples[one]] for one in ("ours", "theirs")]
            text = f"{name}, {len(content) >> 20} MiB {way}, {clock_name} : not sealed"
            promised = reach if clock is timed else None
            results.add(compare("sealed", text, *rates, unit="MB/s", reach=promised, is_most=False))
    for one, backend in backends.items():
        backend.delete(one)


def _processor_time(work: Callable[[], object]) -> Work:
    def sample() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return sample
