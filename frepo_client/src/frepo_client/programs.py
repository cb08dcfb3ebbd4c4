"""Programs that bytes are sent through: compression, encryption, and the command that restores."""

from __future__ import annotations

import array
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from .errors import COMMAND_FAILED, UNDECIDED, ClientError, CommandFailedError, NothingKnownError
from .interrupts import uninterrupted
from .reporter import size_text

PIECE = 1 << 20
# Exit statuses that say nothing about the content, as in restore tests of the server: of sysexits.h, automake, shells.
_NOTHING_KNOWN = {
    75: "cannot test now (exit status 75)",
    77: "cannot test this version (exit status 77)",
    126: "ended with 126: a program cannot be executed; check its rights",
    127: "ended with 127: a program was not found; install it, or write its whole path",
}


# It holds the input of the command open. A byte dismisses it; without one, its own input ends with the client.
_PROGRAM = """
import os, signal, sys
if not os.read(0, 1):
    os.killpg(int(sys.argv[1]), signal.SIGKILL)
"""


class Guard:
    """A process that waits for the end of this one."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def dismiss(self) -> None:
        """End it: from now on the command may see the end of its input."""
        with contextlib.suppress(OSError):
            self._process.communicate(b".")


def start_guard(command: subprocess.Popen[bytes]) -> Guard | None:
    """Guard a command that leads a process group of its own. Windows has no groups, so no guard."""
    if os.name != "posix" or command.stdin is None:
        return None
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, str(command.pid)],
            stdin=subprocess.PIPE,
            pass_fds=[command.stdin.fileno()],
            start_new_session=True,
        )
    except OSError:
        return None
    return Guard(process)


def through(
    command: Sequence[str], source: Iterator[bytes], environment: Mapping[str, str] | None = None
) -> Iterator[bytes]:
    """Yield what a program makes of the bytes of `source`.

    It gets its end of file only after `source` has ended without an error. Otherwise it is killed, and the error is
    raised here. Raises `CommandFailedError` if it ends with another status than 0.
    """
    with _Feeding(command, source, stdout=subprocess.PIPE, environment=environment) as feeding:
        yield from feeding.output()
        feeding.finish()


def into(command: Sequence[str], source: Iterator[bytes], environment: Mapping[str, str] | None = None) -> None:
    """Send the bytes of `source` to a program, whose output is that of this one. Raises as `through`."""
    with _Feeding(command, source, environment=environment, is_guarded=True) as feeding:
        feeding.finish()


def _start(
    command: Sequence[str], stdout: int | None, environment: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    """Start a program in a group of its own. Raises `NothingKnownError` if that is not possible."""
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=stdout,
            env={**os.environ, **(environment or {})},
            start_new_session=os.name == "posix",
        )
    except FileNotFoundError:
        raise NothingKnownError(f"the program {command[0]} is missing on this machine; install it") from None
    except (OSError, ValueError) as error:  # a byte of 0 in a word
        problem = getattr(error, "strerror", None) or error
        raise NothingKnownError(f"{command[0]} cannot be started: {problem}") from None


class _Feeding:
    """A process, and a thread that writes the bytes of `source` to it. Leaving it kills a process that still runs."""

    def __init__(
        self,
        command: Sequence[str],
        source: Iterator[bytes],
        *,
        stdout: int | None = None,
        environment: Mapping[str, str] | None = None,
        is_guarded: bool = False,
    ) -> None:
        self._is_guarded = is_guarded
        self._guard: Guard | None = None
        self._command = command
        self._source = source
        self._stdout = stdout
        self._environment = environment
        self._error: BaseException | None = None
        self._sent = self._written = 0
        self._left: int | None = None
        self._thread = threading.Thread(target=self._feed, daemon=True)

    def __enter__(self) -> _Feeding:
        process: subprocess.Popen[bytes] | None = None
        try:
            with uninterrupted():
                process = self._process = _start(self._command, self._stdout, self._environment)
                if self._is_guarded:
                    self._guard = start_guard(process)
                self._thread.start()
        except BaseException:
            if process:
                self.__exit__()
            raise
        return self

    def output(self) -> Iterator[bytes]:
        """Yield what the process puts out."""
        assert self._process.stdout is not None
        while piece := self._process.stdout.read(PIECE):
            yield piece

    def _feed(self) -> None:
        assert self._process.stdin is not None
        try:
            for piece in self._source:
                if self._written == self._sent:
                    self._written += _write(self._process.stdin, piece)
                self._sent += len(piece)
        except BaseException as error:  # noqa: BLE001 - `finish` raises it in the thread that waits
            self._error = error
            _kill(self._process)
        self._left = _open_to_read(self._process.stdin)
        if self._guard:
            self._guard.dismiss()
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def finish(self) -> None:
        """Wait for the source and for the process. Raises the error of the source first."""
        command = self._command
        self._thread.join()
        status = self._process.wait()
        if isinstance(self._error, (ClientError, KeyboardInterrupt)):
            raise self._error
        if self._error:
            raise CommandFailedError(f"the content could not be read: {self._error}") from self._error
        if status in _NOTHING_KNOWN or status < 0:
            text = _NOTHING_KNOWN.get(status, f"was killed by signal {-status}")
            raise NothingKnownError(f"{command[0]} {text}", UNDECIDED if status in {75, 77} else COMMAND_FAILED)
        if status:
            raise CommandFailedError(f"{command[0]} ended with {status}")
        read = self._written - self._count_left()
        if read < self._sent:
            left = size_text(self._sent - read)
            raise NothingKnownError(f"{command[0]} has read only {size_text(read)}, and left {left}")

    def _count_left(self) -> int:
        """Return how many bytes are left in the pipe, which the process has not read; 0 if the system does not say."""
        if self._left is None:
            return 0
        import fcntl
        import termios

        count = array.array("i", [0])
        fcntl.ioctl(self._left, termios.FIONREAD, count)
        return count[0]

    def __exit__(self, *_: object) -> None:
        _kill(self._process)
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        if self._left is not None:
            os.close(self._left)


def _open_to_read(pipe: IO[bytes]) -> int | None:
    """Open the other end of a pipe, to see what is left in it when all was written; None if only Linux could."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return os.open(f"/proc/self/fd/{pipe.fileno()}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None


def _write(pipe: IO[bytes], piece: bytes) -> int:
    """Write a piece; return how many bytes the pipe took. If the process no longer reads, its exit status says why."""
    left = memoryview(piece)
    with contextlib.suppress(OSError):
        while left:
            left = left[os.write(pipe.fileno(), left) :]
    return len(piece) - len(left)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that runs, and what it has started."""
    if process.poll() is None:
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
