"""Getting the next segments in advance, in a process of its own, while PostgreSQL replays this one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from concurrent.futures import ThreadPoolExecutor

from ..private_files import open_lock
from .fetch import LOCK, Fetch

_SEGMENT = re.compile(r"[0-9A-F]{24}")
_PARALLEL = 4


def prefetch(fetch: Fetch, name: str, size: int, count: int) -> None:
    """Start to fetch the `count` segments after this one, and return. A failure of that is none of this one."""
    if count < 1 or not _SEGMENT.fullmatch(name) or size < 1 << 20:
        return
    with contextlib.suppress(OSError):
        os.makedirs(fetch.folder, mode=0o700, exist_ok=True)
        if os.fork() == 0:
            try:
                _work(fetch, following(name, size, count))
            finally:
                os._exit(0)


def following(name: str, size: int, count: int) -> list[str]:
    """Return the names of the segments after one, of its timeline."""
    segments = (1 << 32) // size
    place = int(name[8:16], 16) * segments + int(name[16:], 16)
    places = (divmod(one, segments) for one in range(place + 1, place + 1 + count))
    return [f"{name[:8]}{log:08X}{segment:08X}" for log, segment in places]


def _work(fetch: Fetch, names: list[str]) -> None:
    """Fetch what is not there yet, unless another process does."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    with open_lock(os.path.join(fetch.folder, LOCK)) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        wanted = [name for name in names if not os.path.exists(os.path.join(fetch.folder, name))]
        with ThreadPoolExecutor(_PARALLEL) as threads:
            list(threads.map(fetch.in_advance, wanted))
