"""A service, and commands, that run on a disk which may lose what was not synced."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.paths import TESTS
from support.servers.service import BIN, START_SECONDS, Service

from .calls import OPTIONS, Call, Trace
from .disk import Disk

_SENDS = {"sendto", "sendmsg", "write", "writev"}


class RecordedService(Service):
    """`pserve` under strace; `disk` is what its folder is after each answer."""

    def __init__(self, folder: Path, logs: Path, without: str = "") -> None:
        """`logs` is a folder elsewhere. `without` names a sync that the process leaves out: see `unsynced`."""
        # The worker writes at any time, also between the calls of an upload.
        super().__init__(folder, {"WORKER_IN_PROCESS": "false", "PYTHONPATH": str(TESTS)})
        self.log = logs / "service.log"
        self._logs, self._without = logs, without
        self._count = 0
        self._calls: Trace | None = None

    def record(self) -> None:
        """Take what is there now as synced, and start."""
        if not shutil.which("strace"):
            pytest.skip("strace is not installed: make services")
        self.disk = Disk(self.folder)
        self._admin = self.run("auth:generate-admin-token").strip()
        self.start_again()

    def start_again(self) -> None:
        """Start, and follow the disk to the first answer."""
        self.start()
        self.answered("HTTP/1.1 200")

    def start(self) -> None:
        self.process = self._trace("pserve", str(self.ini), f"http_listen={self.address}")
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if "ptrace" in self.log.read_text():
                pytest.skip("this machine does not allow tracing")
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The service did not start:\n{self.log.read_text()}")
            time.sleep(0.05)

    def answered(self, status: str) -> Disk:
        """Return the disk as it was when the next answer with this status began to be sent."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            while call := self._next():
                is_answer = call.result is None and call.name in _SENDS and "socket:" in call.path
                if is_answer and b"".join(call.texts).startswith(status.encode()):
                    return self.disk
            time.sleep(0.02)
        raise AssertionError(f"nothing was sent that begins with {status}")

    def run(self, *arguments: str) -> str:
        """Run a command of the console while the service is stopped; return its output. The disk is that of its end."""
        process = self._trace("frepo", "--ini", str(self.ini), *arguments)
        output, _ = process.communicate(timeout=START_SECONDS)
        assert process.returncode == 0, self.log.read_text()
        time.sleep(0.2)  # strace writes its last lines
        while self._next():
            pass
        return output.decode()

    def stop(self, with_signal: int = signal.SIGTERM) -> None:
        super().stop(with_signal)
        if self._calls:
            self._calls.close()

    def _next(self) -> Call | None:
        """Let the disk do the next call; return it, or None if there is none yet."""
        assert self._calls
        if call := self._calls.next():
            self.disk.do(call)
        return call

    def _trace(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        self._count += 1
        trace = self._logs / f"calls-{self._count}"
        self.disk.begin_process()
        if self._calls:
            self._calls.close()
        self._calls = Trace(trace)
        command = [str(BIN / program), *arguments]
        if self._without:
            command = [sys.executable, "-m", "support.power.unsynced", self._without, *command]
        with self.log.open("ab") as log:
            # -D: the service is our child process, not strace, so that it receives our signals.
            return subprocess.Popen(
                ["strace", *OPTIONS, "-o", str(trace), *command],
                env=self.environment,
                stdout=subprocess.PIPE if program == "frepo" else log,
                stderr=log,
                cwd=self._logs,
            )
