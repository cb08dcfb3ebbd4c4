"""Starts the processes that list contents, and keeps one of them for the next content: starting one takes a while."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

# A process without work ends by itself after `KEPT` seconds. It is not used in its last ones.
KEPT = 60.0
_MARGIN = 10.0
_idle: "list[tuple[float, subprocess.Popen[bytes]]]" = []
_lock = threading.Lock()
os.register_at_fork(after_in_child=_idle.clear)


@contextlib.contextmanager
def host(module: str, seconds: float) -> "Iterator[subprocess.Popen[bytes]]":
    """Yield a process that waits for a content. It is kept if the block ends in time and without an error."""
    process = _kept() or _start(module)
    timer = threading.Timer(seconds, _kill, [process])
    timer.daemon = True
    timer.start()
    try:
        yield process
    except BaseException:
        timer.cancel()
        _end(process)
        raise
    timer.cancel()
    with _lock:
        is_kept = not _idle and process.poll() is None
        if is_kept:
            _idle.append((time.monotonic(), process))
    if not is_kept:
        _end(process)


def _kept() -> "subprocess.Popen[bytes] | None":
    with _lock:
        since, process = _idle.pop() if _idle else (0.0, None)
    if process is None or (time.monotonic() - since < KEPT - _MARGIN and process.poll() is None):
        return process
    _end(process)
    return None


def _start(module: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(OSError):  # it has ended
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: "subprocess.Popen[bytes]") -> None:
    _kill(process)
    with contextlib.suppress(OSError, ValueError):
        process.communicate()
