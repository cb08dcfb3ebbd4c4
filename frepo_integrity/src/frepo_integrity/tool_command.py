"""Runs a program that understands a format, such as pg_restore, with limits on time, memory and output.

The content is written to the program's standard input. It is whole if the program ends with exit code 0.
"""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from frepo_core.plugins import readable_size

from .byte_stream import CHUNK
from .outcomes import BrokenContent, NotCheckable, Report
from .settings import Command

KIND = "command"
# What is kept of the program's messages: the last bytes.
KEPT = 2000
_POLL_SECONDS = 0.05
# `ulimit` of a shell sets the limits before the program begins. Python's preexec_fn must not be used with threads.
_WITH_LIMITS = 'ulimit -c 0 && ulimit -v "$1" && ulimit -f "$2" && shift 2 && exec "$@"'
_NOT_FOUND = frozenset({126, 127})
_NO_MEMORY = re.compile(rb"out of memory|cannot allocate|memory exhausted|bad_alloc|MemoryError", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits for one run: seconds, bytes of address space, bytes that the program may write."""

    seconds: float
    memory: int
    output: int


def run_command(
    command: Command, content: BinaryIO, limits: Limits, tick: Callable[[], object] = lambda: None
) -> Report:
    """Run the program with the content; return a report that is good. `tick` is called often and may raise.

    Raises `BrokenContent` if the program refuses the content, and `NotCheckable` if it could not tell: it does not
    exist, needs more than the limits allow, or was killed.
    """
    with tempfile.TemporaryDirectory(prefix="frepo-integrity-") as folder, contextlib.ExitStack() as stack:
        process = _start(command, limits, folder)
        feeder = _Feeder(process, content)
        stack.callback(feeder.wait)  # the caller closes the content next
        stack.callback(_kill, process)
        output = _Output(process, limits.output)
        deadline = time.monotonic() + limits.seconds
        while process.poll() is None:
            tick()
            if time.monotonic() > deadline:
                raise NotCheckable(f"{command.program} took longer than {round(limits.seconds, 3):g} seconds")
            if output.size > limits.output:
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
        _kill(process)  # whatever it started still holds the pipes
        feeder.finish()
        text = output.finish()
        if output.size > limits.output:
            raise NotCheckable(f"{command.program} wrote more than {readable_size(limits.output)}")
        return _judge(command, process.returncode, text)


def _start(command: Command, limits: Limits, folder: str) -> "subprocess.Popen[bytes]":
    shell = ["/bin/sh", "-c", _WITH_LIMITS, "sh", str(limits.memory >> 10), str(max(1, limits.output >> 9))]
    # The service's environment has secrets.
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", "HOME": folder, "TMPDIR": folder}
    return subprocess.Popen(
        [*shell, *command.words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment,
        start_new_session=True,
        bufsize=0,
    )


class _Output:
    """Reads all that a program writes, and keeps the end of it."""

    def __init__(self, process: "subprocess.Popen[bytes]", limit: int) -> None:
        assert process.stdout is not None
        self._pipe = process.stdout
        self._limit = limit
        self._tail = b""
        self.size = 0
        self._thread = threading.Thread(target=self._read, name="integrity-output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._pipe:
            while self.size <= self._limit and (data := self._pipe.read(CHUNK)):
                self.size += len(data)
                self._tail = (self._tail + data)[-KEPT:]

    def finish(self) -> bytes:
        self._thread.join()
        return self._tail


class _Feeder:
    """Writes the content to a program. A program need not read all of it."""

    def __init__(self, process: "subprocess.Popen[bytes]", content: BinaryIO) -> None:
        assert process.stdin is not None
        self._pipe = process.stdin
        self._content = content
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._write, name="integrity-input", daemon=True)
        self._thread.start()

    def _write(self) -> None:
        with contextlib.suppress(BrokenPipeError), self._pipe:
            try:
                self._content.seek(0)
                while data := self._content.read(CHUNK):
                    view = memoryview(data)
                    while view:
                        view = view[self._pipe.write(view) :]
            except BrokenPipeError:
                raise
            except Exception as error:  # noqa: BLE001  # raised in the thread that waits for the program
                self._error = error

    def wait(self) -> None:
        """Wait until the program or the content has ended."""
        self._thread.join()

    def finish(self) -> None:
        """Wait, then raise what reading the content raised."""
        self.wait()
        if self._error is not None:
            raise self._error


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End the program and whatever it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _judge(command: Command, code: int, output: bytes) -> Report:
    if code == 0:
        message = f"{command.program} accepts the content"
        return Report(outcome="good", message=message, kinds=(KIND,), covers="content")
    if code < 0:
        raise NotCheckable(f"{command.program} was ended by signal {-code} ({signal.strsignal(-code)})")
    if code in _NOT_FOUND:
        raise NotCheckable(f"{command.program} cannot be started: {_text(output)}")
    if _NO_MEMORY.search(output):
        raise NotCheckable(f"{command.program} needs more memory than integrity.command_memory allows")
    raise BrokenContent(KIND, f"{command.program} ends with exit code {code}: {_text(output)}")


def _text(output: bytes) -> str:
    """Return the last lines as one line without control characters."""
    text = output.decode("utf-8", "replace")
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[-500:]
