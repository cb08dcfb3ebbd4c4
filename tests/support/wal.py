"""Segments as PostgreSQL makes them, and clusters of PostgreSQL that archive into a service."""

import contextlib
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.servers.postgresql import _BIN, OWNER
from support.servers.processes import folder_of, free_port, run_as, running_process

MIB = 1 << 20
SYSTEM = 7_400_000_000_000_000_001


def segment(index: int, *, timeline: int = 1, system: int = SYSTEM, size: int = MIB, fill: bytes = b"\0") -> bytes:
    """Return the content of a segment: the header of PostgreSQL 15, and bytes."""
    head = struct.pack("<HHIQIxxxxQII", 0xD110, 0x0002, timeline, index * size, 0, system, size, 8192)
    return head + fill * (size - len(head))


def name(index: int, *, timeline: int = 1, size: int = MIB) -> str:
    """Return the name of a segment."""
    log, number = divmod(index, (1 << 32) // size)
    return f"{timeline:08X}{log:08X}{number:08X}"


class Cluster:
    """A cluster in a folder; `environment` is that of the server and of the commands that it runs."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.environment = environment
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, *words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """Run a command as the user of PostgreSQL."""
        return subprocess.run(
            words, check=check, cwd=self.folder, env=self.environment, capture_output=True, text=True, **run_as(OWNER)
        )

    def ask(self, sql: str) -> str:
        """Return what a query gives."""
        return self.run(
            str(_BIN[-1] / "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-p", str(self.port),
            "-U", OWNER, "-d", "postgres", "-c", sql,
        ).stdout.strip()  # fmt: skip

    @contextlib.contextmanager
    def started(self, *, is_ready: bool = True, **settings: str) -> Iterator[None]:
        """Run the server. With `is_ready`, wait until it answers."""
        command = [str(_BIN[-1] / "postgres"), "-D", str(self.data), "-k", str(self.folder), "-p", str(self.port)]
        for key, value in {"listen_addresses": "", "shared_buffers": "32MB", **settings}.items():
            command += ["-c", f"{key}={value}"]
        state = self.data / "postmaster.pid"
        state.unlink(missing_ok=True)

        def answers() -> bool:
            return not is_ready or (state.exists() and state.read_text().rstrip().endswith("ready"))

        options: dict[str, Any] = {"env": self.environment, **run_as(OWNER)}
        with running_process(command, self.folder, answers, stop=signal.SIGINT, **options) as self.process:
            yield

    def crash(self) -> None:
        """End all processes of the server at once."""
        assert self.process
        children = subprocess.run(
            ["ps", "--ppid", str(self.process.pid), "-o", "pid="], capture_output=True, text=True, check=False
        )
        for pid in [str(self.process.pid), *children.stdout.split()]:
            subprocess.run(["kill", "-9", pid], check=False)
        self.process.wait()

    def wait_for(self, sql: str, wanted: str = "t", seconds: float = 120) -> None:
        """Wait until a query gives what is wanted."""
        deadline = time.monotonic() + seconds
        while (found := self.run_quietly(sql)) != wanted:
            if time.monotonic() > deadline:
                raise AssertionError(f"{sql} gives {found!r} instead of {wanted!r}: {self.log[-3000:]}")
            time.sleep(0.05)

    def run_quietly(self, sql: str) -> str:
        """Return what a query gives; an error's first line."""
        try:
            return self.ask(sql)
        except subprocess.CalledProcessError as error:
            return str(error.stderr).partition("\n")[0]

    def archive_everything(self) -> None:
        """Switch to another segment, and wait until all before it are archived."""
        last = self.ask("SELECT pg_walfile_name(pg_switch_wal())")
        self.wait_for(f"SELECT coalesce(last_archived_wal, '') >= '{last}' FROM pg_stat_archiver")

    @property
    def log(self) -> str:
        """The log of the server."""
        return (self.folder / "log").read_text(errors="replace")

    def give_to_server(self) -> None:
        """Give the data to the user of PostgreSQL."""
        if owner := run_as(OWNER):
            subprocess.run(["chown", "-R", f"{owner['user']}:{owner['group']}", str(self.data)], check=True)


@contextlib.contextmanager
def cluster(environment: dict[str, str], files: dict[str, Path], *, is_empty: bool = False) -> Iterator[Cluster]:
    """Make a cluster, with copies of files that it may read. With `is_empty`, it has no data yet."""
    with folder_of(OWNER) as folder:
        made = Cluster(folder, environment)
        for key, path in files.items():
            shutil.copy(path, folder / key)
            if owner := run_as(OWNER):
                shutil.chown(folder / key, owner["user"], owner["group"])
        if not is_empty:
            words = ["-D", str(made.data), "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
            made.run(str(_BIN[-1] / "initdb"), *words, "--wal-segsize=1")
        yield made
