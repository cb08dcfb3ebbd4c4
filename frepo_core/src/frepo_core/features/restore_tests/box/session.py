"""One test in a box: the content is written as fast as the box reads, within limits of time, memory and disk."""

import os
import select
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path

from frepo_core.domain.durations import format_duration
from frepo_core.domain.error_lines import FirstError
from frepo_core.domain.structs import struct

from ..restore_command import OUTPUT, PIECE, POLL_MILLISECONDS, Readable
from .bubblewrap import INSTALL, started_box
from .errors import NoSandboxError
from .messages import MAX_REPORT, READY, UNDECIDED, Order, Report
from .watch import Watch

BUBBLEWRAP = "bubblewrap"
_MOST_PIECES = 16


@struct
class BoxResult:
    """What was found in a box. `size` is how many bytes it was given, `seconds` how long it took.

    `output` is the end of what the programs in it have written, `error` the first line with an error. `is_ended` is
    whether it was ended because it has passed a limit.
    """

    report: Report
    size: int
    seconds: float
    output: str = ""
    error: str = ""
    is_ended: bool = False


def restore_in_box(
    sandbox: str, temp_directory: Path | None, order: Order, content: Readable, keep_going: Callable[[], None]
) -> BoxResult:
    """Restore a content in a box, made by bubblewrap or behind a socket. Raises `NoSandboxError`.

    It also raises what `content.read` or `keep_going`, which is called often, raises.
    """
    with ExitStack() as stack:
        if sandbox == BUBBLEWRAP:
            channel, process, folder = stack.enter_context(started_box(temp_directory))
            watch = Watch(process.pid, folder, order.limits)
            session = _Session(channel, order, content, process, watch.find_excess)
        else:
            session = _Session(stack.enter_context(_connect(sandbox)), order, content, None, lambda: "")
        return session.run(keep_going)


def _connect(path: str) -> socket.socket:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        channel.connect(path)
    except OSError as error:
        channel.close()
        text = f"no sandbox: {path} cannot be reached ({error.strerror}): systemctl enable --now frepo-restore.socket"
        raise NoSandboxError(text) from error
    return channel


class _Session:
    def __init__(
        self,
        channel: socket.socket,
        order: Order,
        content: Readable,
        process: "subprocess.Popen[bytes] | None",
        find_excess: Callable[[], str],
    ) -> None:
        self._channel, self._order, self._content = channel, order, content
        self._process, self._find_excess = process, find_excess
        self._pending = memoryview(order.packed())
        self._size = -len(self._pending)
        self._is_fed = self._is_closed = False
        self._answer = b""
        self._kept, self._error = b"", FirstError()

    def run(self, keep_going: Callable[[], None]) -> BoxResult:
        """Talk until the box has reported, or until a limit is passed."""
        began = time.monotonic()
        self._channel.setblocking(False)
        if self._process is not None:
            assert self._process.stderr is not None
            os.set_blocking(self._process.stderr.fileno(), False)
        deadline, excess = began + self._order.limits.seconds, ""
        while not self._is_closed and not excess:
            keep_going()
            self._exchange()
            excess = self._find_excess()
            if time.monotonic() >= deadline:
                excess = f"it did not end within {format_duration(timedelta(seconds=self._order.limits.seconds))}"
        self._read_output()
        report = self._report(excess)
        output, error = self._kept.decode(errors="replace"), self._error.end()
        return BoxResult(
            report=report,
            size=self._size,
            seconds=time.monotonic() - began,
            output=output,
            error=error,
            is_ended=bool(excess),
        )

    def _exchange(self) -> None:
        poll = select.poll()
        poll.register(self._channel, select.POLLIN | (0 if self._is_fed else select.POLLOUT))
        for _, event in poll.poll(POLL_MILLISECONDS):
            if event & select.POLLOUT and not event & (select.POLLHUP | select.POLLERR):
                self._write()
            if event & (select.POLLIN | select.POLLHUP | select.POLLERR):
                self._read()
        self._read_output()

    def _write(self) -> None:
        if not self._pending:
            self._pending = memoryview(self._content.read(PIECE))
        try:
            if self._pending:
                sent = self._channel.send(self._pending)
                self._size += sent
                self._pending = self._pending[sent:]
            else:
                self._is_fed = True
                self._channel.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            pass
        except OSError:  # the box has ended; its report may be there
            self._is_fed = True

    def _read(self) -> None:
        with suppress(BlockingIOError):
            try:
                data = self._channel.recv(PIECE)
            except ConnectionError:
                data = b""
            self._answer += data
            self._is_closed = not data or len(self._answer) > MAX_REPORT

    def _read_output(self) -> None:
        if self._process is None:
            return
        assert self._process.stderr is not None
        with suppress(BlockingIOError):
            for _ in range(_MOST_PIECES):  # not until it ends: who writes all the time would never be ended
                data = os.read(self._process.stderr.fileno(), PIECE)
                self._kept = (self._kept + data)[-OUTPUT:]
                self._error.feed(data)

    def _report(self, excess: str) -> Report:
        if excess:
            return Report(outcome=UNDECIDED, message=f"the restore was ended: {excess}")
        if not self._answer.startswith(READY):
            lines = self._kept.decode(errors="replace").strip().splitlines()
            why = lines[-1] if lines else "it ended at once"
            raise NoSandboxError(f"no sandbox: {why}: {INSTALL}")
        try:
            return Report.parse(self._answer.removeprefix(READY))
        except ValueError:
            return Report(outcome=UNDECIDED, message="the box ended without a report")
