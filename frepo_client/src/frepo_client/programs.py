"""Programs that bytes are sent through: compression, encryption, and the command that restores."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from typing import IO, Iterator, Mapping, Sequence

from .errors import ClientError, CommandFailedError, NotStartedError
from .guard import Guard, start_guard
from .interrupts import uninterrupted

PIECE = 1 << 20


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
    """Start a program in a group of its own. Raises `NotStartedError` if that is not possible."""
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=stdout,
            env={**os.environ, **(environment or {})},
            start_new_session=os.name == "posix",
        )
    except FileNotFoundError:
        raise NotStartedError(f"the program {command[0]} is missing on this machine; install it") from None
    except OSError as error:
        raise NotStartedError(f"{command[0]} cannot be started: {error.strerror}") from None


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
        self._sent = self._unread = 0
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
        is_open = True
        try:
            for piece in self._source:
                is_open = is_open and _write(self._process.stdin, piece)
                self._sent += len(piece)
                self._unread += 0 if is_open else len(piece)
        except BaseException as error:  # noqa: BLE001 - `finish` raises it in the thread that waits
            self._error = error
            _kill(self._process)
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
        if status:
            raise CommandFailedError(f"{command[0]} ended with {128 - status if status < 0 else status}")
        if self._unread:
            read = self._sent - self._unread
            raise CommandFailedError(f"{command[0]} has read less than {read + PIECE} of {self._sent} bytes")

    def __exit__(self, *_: object) -> None:
        _kill(self._process)
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()


def _write(pipe: IO[bytes], piece: bytes) -> bool:
    """Write a piece. Return False if the process no longer reads: its exit status will say why."""
    try:
        pipe.write(piece)
    except OSError:
        return False
    return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that runs, and what it has started."""
    if process.poll() is None:
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
