"""Shared helpers of the fixtures for real servers: ports, folders, users, and child processes."""

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

START_SECONDS = 180
STOP_SECONDS = 60
LOG_CHARACTERS = 10_000
# Where the folders of servers are if so many bytes are free there: six test processes have three databases each.
MEMORY, ROOM = "/dev/shm", 4 << 30
# The servers that run, and the paths of their logs. The report of a failed test shows them, see
# `support.logs.server_logs`.
running: dict[subprocess.Popen[bytes], Path] = {}


def free_port() -> int:
    """Return a port that nobody listens on, below those that the system gives to connections meanwhile."""
    while True:
        port = 10_240 + secrets.randbelow(32_768 - 10_240)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not collected yet does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def is_answered(url: str) -> bool:
    """Whether a server answers at the URL."""
    try:
        urllib.request.urlopen(url, timeout=30).close()
    except OSError:
        return False
    return True


def run_as(user: str) -> dict[str, Any]:
    """Return the user that a server runs as: databases refuse to run as root."""
    if os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _roomy_memory() -> str | None:
    """Return a folder in memory if it has room for the databases of all test processes, else None."""
    try:
        found = os.statvfs(MEMORY)
    except OSError:
        return None
    return MEMORY if found.f_bavail * found.f_frsize >= ROOM else None


@contextlib.contextmanager
def folder_of(user: str) -> Iterator[Path]:
    """Create a temporary folder that belongs to the user, in memory if there is room.

    On a disk, MariaDB makes frepo's tables in eight seconds instead of half a second.
    """
    folder = Path(tempfile.mkdtemp(prefix="frepo-test-", dir=_roomy_memory()))
    try:
        if owner := run_as(user):
            os.chown(folder, owner["user"], owner["group"])
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def running_process(
    command: list[str], folder: Path, answers: Callable[[], bool], stop: int = signal.SIGTERM, **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the end of the block; its log is `log` in the folder."""
    log = folder / "log"
    with log.open("ab") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, **options)
    running[process] = log
    try:
        deadline = time.monotonic() + START_SECONDS
        while not answers():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} did not start:\n{log.read_text()}")
            time.sleep(0.02)
        yield process
    finally:
        del running[process]
        if process.poll() is not None:
            print(f"{state_of(process)}:\n{end_of(log)}")  # the log is about to be deleted
        else:
            process.send_signal(stop)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def freeze(pid: int) -> None:
    """Stop a process until SIGCONT. One thread receives the signal; until it has run, the others go on."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + STOP_SECONDS
    while any(_state(thread) != "T" for thread in Path(f"/proc/{pid}/task").iterdir()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"Process {pid} does not stop")
        time.sleep(0.01)


def _state(thread: Path) -> str:
    return (thread / "stat").read_text().rpartition(")")[2].split()[0]


def state_of(process: subprocess.Popen[bytes]) -> str:
    """Return the program of a server, and whether it runs."""
    status = process.poll()
    return f"{process.args[0]} {'runs' if status is None else f'ended with status {status}'}"  # type: ignore[index]


def end_of(log: Path) -> str:
    """Return the last lines of a server's log."""
    return log.read_text(errors="replace")[-LOG_CHARACTERS:]
