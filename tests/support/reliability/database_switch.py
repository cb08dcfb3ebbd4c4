"""Stops and freezes a PostgreSQL."""

import os
import shlex
import signal
import subprocess
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from frepo_core.db.engine import normalize_url
from support.reliability.invariants import eventually
from support.servers import postgresql
from support.servers.processes import run_as


class Switch:
    """Stops a PostgreSQL immediately, and restarts it; or freezes all its processes, and thaws them."""

    def __init__(self, url):
        self.url = normalize_url(url)
        with self._connect() as connection:
            self.data = Path(connection.scalar(text("SHOW data_directory")))
        self.command = shlex.split((self.data / "postmaster.opts").read_text())
        self.process = None

    def off(self):
        pid = int((self.data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGQUIT)
        assert eventually(lambda: not (self.data / "postmaster.pid").exists() or not self.answers())
        if self.process:
            self.process.wait(60)

    def on(self):
        eventually(lambda: not (self.data / "postmaster.pid").exists(), 5)
        output = subprocess.DEVNULL
        self.process = subprocess.Popen(self.command, stdout=output, stderr=output, **run_as(postgresql.OWNER))
        assert eventually(self.answers)

    def answers(self):
        try:
            with self._connect() as connection:
                return connection.scalar(text("SELECT 1")) == 1
        except Exception:  # noqa: BLE001  # any error is an outage
            return False

    def _connect(self):
        return create_engine(self.url, poolclass=NullPool, connect_args={"connect_timeout": 2}).connect()

    def freeze(self):
        for pid in self._processes():
            os.kill(pid, signal.SIGSTOP)

    def thaw(self):
        for pid in self._processes():
            os.kill(pid, signal.SIGCONT)

    def _processes(self):
        """Return the process that accepts connections, which is stopped first, and its children."""
        main = int((self.data / "postmaster.pid").read_text().splitlines()[0])
        yield main
        yield from map(int, Path(f"/proc/{main}/task/{main}/children").read_text().split())
