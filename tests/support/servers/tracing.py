"""A service whose system calls are observed with strace, to see what is on the disk when a client gets its answer."""

import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.servers.service import BIN, START_SECONDS, Service

CALLS = "fsync,fdatasync,write,writev,pwrite64,rename,renameat,renameat2,link,linkat,mkdir,mkdirat,sendto,sendmsg"
_LINE = re.compile(r"(\d+) +(.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += +(-?\d+).*")
_FILE = re.compile(r"(\d+)<([^>]*)>")
_TEXT = re.compile(r'"([^"]*)"')


@dataclass(frozen=True)
class Call:
    """One system call that succeeded: its name, the descriptor and the path of its file, and the texts in it."""

    name: str
    descriptor: str
    path: str
    texts: tuple[str, ...]


class TracedService(Service):
    """`pserve` under strace; `calls` returns its system calls since the last call."""

    _seen = 0

    @property
    def trace(self) -> Path:
        return self.folder / "strace.log"

    def start(self) -> None:
        if not shutil.which("strace"):
            pytest.skip("strace is not installed: make services")
        # -D: the service is our child process, not strace, so that it receives our signals.
        options = ["-D", "-f", "--seccomp-bpf", "-qq", "-y", "-s", "64", "-e", "signal=none"]
        options += ["-e", f"trace={CALLS}", "-o", self.trace]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["strace", *options, BIN / "pserve", self.ini, f"http_listen={self.address}"],
                env=self.environment,
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if "ptrace" in self.log.read_text():
                pytest.skip("this machine does not allow tracing")
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The service did not start:\n{self.log.read_text()}")
            time.sleep(0.05)

    def calls(self, last: str) -> list[Call]:
        """Return the system calls since the last call, up to the one that sends a text that begins with `last`."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            calls = _parse(self.trace.read_text(errors="replace")[self._seen :])
            for index, call in enumerate(calls):
                if call.name.startswith("send") and call.texts and call.texts[0].startswith(last):
                    self._seen = self.trace.stat().st_size
                    return calls[: index + 1]
            time.sleep(0.05)
        raise AssertionError(f"nothing was sent that begins with {last}")


def _parse(trace: str) -> list[Call]:
    """Parse strace's lines. A system call that strace prints in two parts counts when it ends."""
    calls: list[Call] = []
    begun: dict[str, str] = {}
    for match in map(_LINE.fullmatch, trace.splitlines()):
        if match is None:
            continue
        thread, text = match.groups()
        if text.endswith("<unfinished ...>"):
            begun[thread] = text.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := _RESUMED.fullmatch(text):
            text = begun.pop(thread, "") + resumed[1]
        if (call := _CALL.fullmatch(text)) and int(call[3]) >= 0:
            file = _FILE.match(call[2])
            number, path = file.groups() if file else ("", "")
            calls.append(Call(call[1], number, path, tuple(_TEXT.findall(call[2]))))
    return calls
