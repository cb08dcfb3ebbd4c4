"""Streams a content into a command, with a limit for its time and for what is kept of its output."""

import array
import contextlib
import fcntl
import os
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from frepo_core.domain.error_lines import FirstError
from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError

PIECE = 1 << 18
OUTPUT = 4096
POLL_MILLISECONDS = 100


class CommandNotStartedError(FrepoError):
    """A program does not exist, or may not be executed."""


class Readable(Protocol):
    """A content to read."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, none at the end."""


@struct
class CommandResult:
    """How a command ended.

    `status` is its exit status; it is negative if a signal killed the command: -9 for SIGKILL. `is_late` says that it
    was killed because its time was over. `size` is how many bytes it was given and has read. `output` is the end of
    what it wrote to stdout and stderr, `error` the first line with an error in all of it, empty for none. `seconds` is
    how long it ran.
    """

    status: int
    is_late: bool
    size: int
    output: str
    error: str
    seconds: float


def run_command(
    arguments: Sequence[str],
    content: Readable,
    *,
    folder: Path,
    environment: Mapping[str, str],
    timeout: float,
    keep_going: Callable[[], None],
) -> CommandResult:
    """Run a command in a folder, without a shell, and write the content to its stdin as fast as it reads.

    The whole group of its processes is killed after `timeout` seconds, when the command has ended, and if this function
    raises: what `content.read` or `keep_going`, which is called often, raises. A command that cannot be started raises
    `CommandNotStartedError`.
    """
    command = _Command(arguments, folder, environment)
    try:
        return command.feed(content, time.monotonic() + timeout, keep_going)
    finally:
        command.close()


class _Command:
    """A running command. One thread feeds it and reads its output, so that neither can block the other.

    The reading end of stdin stays open here, too: what is left in it was never read by the command.
    """

    def __init__(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._began = time.monotonic()
        self._stdin, self._input = os.pipe()
        self._is_fed = False
        try:
            self._process = subprocess.Popen(
                arguments,
                stdin=self._stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._stdin)
            os.close(self._input)
            text = (
                f"the command {arguments[0]!r} cannot be started: {error.strerror}: install it, or correct the command"
            )
            raise CommandNotStartedError(text) from error
        assert self._process.stdout is not None
        self._output = self._process.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._pending = memoryview(b"")
        self._written = 0
        self._kept = b""
        self._error = FirstError()

    def feed(self, content: Readable, deadline: float, keep_going: Callable[[], None]) -> CommandResult:
        """Write the content, collect the output, and return when the command has ended or its time is over."""
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        poll.register(self._input, select.POLLOUT)
        while self._process.poll() is None and time.monotonic() < deadline:
            keep_going()
            for descriptor, _ in poll.poll(POLL_MILLISECONDS):
                if descriptor == self._output:
                    if not self._read_output():
                        poll.unregister(self._output)
                elif not self._write(content):
                    poll.unregister(self._input)
                    self._end_input()
        is_late = self._process.poll() is None
        self._kill()
        self._read_output()
        return CommandResult(
            status=self._process.wait(),
            is_late=is_late,
            size=self._written - self._count_unread(),
            output=self._kept.decode(errors="replace"),
            error=self._error.end(),
            seconds=time.monotonic() - self._began,
        )

    def close(self) -> None:
        """Kill what still runs, and close the pipes."""
        self._kill()
        self._process.wait()
        self._end_input()
        os.close(self._stdin)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _write(self, content: Readable) -> bool:
        """Write what the pipe takes; return False at the end of the content."""
        if not self._pending:
            self._pending = memoryview(content.read(PIECE))
            if not self._pending:
                return False
        with contextlib.suppress(BlockingIOError):
            written = os.write(self._input, self._pending)
            self._written += written
            self._pending = self._pending[written:]
        return True

    def _read_output(self) -> bool:
        """Read what the command has written so far and keep its end; return False if the output was closed."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._output, PIECE):
                self._kept = (self._kept + data)[-OUTPUT:]
                self._error.feed(data)
            return False
        return True

    def _count_unread(self) -> int:
        """Return how many bytes are left in the pipe."""
        count = array.array("i", [0])
        fcntl.ioctl(self._stdin, termios.FIONREAD, count)
        return count[0]

    def _end_input(self) -> None:
        if not self._is_fed:
            self._is_fed = True
            os.close(self._input)

    def _kill(self) -> None:
        """Kill the command and the processes that it has left behind in its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
