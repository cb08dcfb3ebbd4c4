"""The programs whose output is a backup: a pipeline without a shell, of which every exit status is known."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Callable

from .errors import CommandFailedError, UsageError
from .interrupts import uninterrupted

SEPARATOR = ":::"
TAIL = 8 << 10  # bytes of standard error that are kept, as much as a run has
_SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh", "busybox"})
_SEVERAL_COMMANDS = re.compile(r"[|;&\n]")
_ERROR = re.compile(r"\b(?:ERROR|FATAL|PANIC)\b|\b\w*[Ee]rror:|\b(?:fatal|panic): |\bGot error\b")
_LINE = re.compile(rb"(?<=[\r\n])")
_PIECE = 1 << 20
_GRACE = 10.0  # seconds between the request to end and the kill


def split_stages(words: Sequence[str]) -> list[list[str]]:
    """Return the stages of a command line, `pg_dump shop ::: gzip`. Raises `UsageError` for an empty one."""
    stages: list[list[str]] = [[]]
    for word in words:
        if word == SEPARATOR:
            stages.append([])
        else:
            stages[-1].append(word)
    if not all(stages):
        raise UsageError(f"write the command after --, its stages with {SEPARATOR} between them: pg_dump shop ::: gzip")
    return stages


def hides_failures(stage: Sequence[str]) -> bool:
    """Whether a stage is a shell that runs several commands, of which it reports the last one's status alone."""
    if os.path.basename(stage[0]) not in _SHELLS:
        return False
    script = next((stage[i + 1] for i, word in enumerate(stage[:-1]) if re.fullmatch(r"-\w*c\w*", word)), None)
    if script is None:
        return False
    options = [word for word in stage[1 : list(stage).index(script)] if word.startswith("-")]
    if any("e" in option[1:] for option in options if not option.startswith("--")) and "|" not in script:
        return False
    return _SEVERAL_COMMANDS.search(script) is not None and "pipefail" not in " ".join(stage)


@dataclass(frozen=True)
class Ended:
    """How the stages ended. `statuses` are as in a shell: 128 and the signal's number for one that was killed."""

    statuses: list[int]
    error_output: str
    timed_out: bool
    hidden: bool
    seconds: float
    timeout: float

    @property
    def failed(self) -> bool:
        """Whether the output is no backup."""
        return self.timed_out or any(self.statuses)

    def describe(self, stages: Sequence[Sequence[str]]) -> str:
        """Return a sentence about what failed."""
        if self.timed_out:
            return f"the command did not end within its timeout of {self.timeout:.0f} s: {describe(stages)}"
        failed = [f"{stage[0]} ended with {status}" for stage, status in zip(stages, self.statuses) if status]
        why = find_reason(self.error_output)
        return ", ".join(failed) + (f": {why}" if why else "")


def find_reason(output: str) -> str:
    """Return the line that says why a program failed: the first one with an error, otherwise the last one."""
    lines = [line for line in output.splitlines() if line.strip()]
    # A line behind a tab continues the one before, such as a hint of PostgreSQL.
    last = next((line for line in reversed(lines) if line[0] != "\t"), lines[-1] if lines else "")
    return next(filter(_ERROR.search, lines), last).strip()


class Pipeline:
    """Runs stages, each of which reads the output of the one before. Leave it to stop what still runs.

    `environment` is added to that of this process. `timeout` is in seconds, for all of it; 0: no limit. What the stages
    print is shown as `mask` returns it. `look` gets what the first `looked_at` stages put out, on its way to the next.
    """

    def __init__(
        self,
        stages: Sequence[Sequence[str]],
        *,
        environment: Mapping[str, str] | None = None,
        timeout: float = 0.0,
        mask: Callable[[str], str] = str,
        look: Callable[[bytes], None] | None = None,
        looked_at: int = 0,
    ) -> None:
        self._stages = stages
        self._environment = {**os.environ, **(environment or {})}
        self._timeout = timeout
        self._processes: list[subprocess.Popen[bytes]] = []
        self._tails: list[_Tail] = []
        self._timer: threading.Timer | None = None
        self._timed_out = False
        self._mask = mask
        self._look = look
        self._looked_at = looked_at
        self._tap: _Tap | None = None

    def __enter__(self) -> Pipeline:
        self._began = time.monotonic()
        try:
            with uninterrupted():
                self._start_all()
                if self._timeout:
                    self._timer = threading.Timer(self._timeout, self._end_in_time)
                    self._timer.daemon = True
                    self._timer.start()
        except BaseException:
            self.stop()
            raise
        return self

    def _start_all(self) -> None:
        source: IO[bytes] | int = subprocess.DEVNULL
        for number, stage in enumerate(self._stages):
            taps = bool(number) and self._look is not None and number == self._looked_at
            try:
                process = _start(stage, subprocess.PIPE if taps else source, self._environment)
            except (OSError, ValueError) as error:  # a byte of 0 in a word
                problem = getattr(error, "strerror", None) or error
                raise CommandFailedError(f"{stage[0]} cannot be started: {problem}") from None
            if taps and self._look and not isinstance(source, int) and process.stdin:
                self._tap = _Tap(source, process.stdin, self._look)
            elif not isinstance(source, int):
                source.close()  # so that a stage ends if the one behind it is gone
            assert process.stdout is not None
            assert process.stderr is not None
            source = process.stdout
            self._processes.append(process)
            self._tails.append(_Tail(process.stderr, self._mask))

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield the output in pieces of `size` bytes; the last one is shorter."""
        output = self._processes[-1].stdout
        assert output is not None
        while piece := output.read(size):
            yield piece

    def wait(self) -> Ended:
        """Wait for all stages."""
        statuses = [process.wait() for process in self._processes]
        if self._tap:
            self._tap.join()
        if self._timer:
            self._timer.cancel()
        return Ended(
            statuses=[128 - status if status < 0 else status for status in statuses],
            error_output="".join(tail.text() for tail in self._tails),
            timed_out=self._timed_out,
            hidden=any(map(hides_failures, self._stages)),
            seconds=time.monotonic() - self._began,
            timeout=self._timeout,
        )

    def stop(self) -> None:
        """End all stages and what they have started: first with SIGTERM, ten seconds later with SIGKILL."""
        running = [process for process in self._processes if process.poll() is None]
        for process in running:
            _signal(process, signal.SIGTERM)
        until = time.monotonic() + _GRACE
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, until - time.monotonic()))
        for process in self._processes:
            _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._timer:
            self._timer.cancel()
        if kind is not None:
            self.stop()
        for process in self._processes:
            process.wait()
        if self._tap:
            self._tap.join()
        for process in self._processes:
            for pipe in (process.stdout, process.stderr):
                if pipe:
                    pipe.close()

    def _end_in_time(self) -> None:
        self._timed_out = True
        self.stop()


def describe(stages: Sequence[Sequence[str]]) -> str:
    """Return the stages as one would type them."""
    return " | ".join(" ".join(map(shlex.quote, stage)) for stage in stages)


class _Tap:
    """A thread that hands the output of one stage to the next one, and shows it to `look`."""

    def __init__(self, source: IO[bytes], target: IO[bytes], look: Callable[[bytes], None]) -> None:
        self._source = source
        self._target = target
        self._look = look
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def _copy(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the stage behind it is gone: its exit status says why
            while piece := os.read(self._source.fileno(), _PIECE):
                self._target.write(piece)
                self._look(piece)
        for pipe in (self._source, self._target):
            with contextlib.suppress(OSError, ValueError):
                pipe.close()

    def join(self) -> None:
        """Wait until all is handed on. A child of a stage may hold the pipe open for longer than a second."""
        self._thread.join(1.0)


class _Tail:
    """Keeps the end of what a stage prints about itself, and shows all of it, line by line."""

    def __init__(self, pipe: IO[bytes], mask: Callable[[str], str]) -> None:
        self._pipe = pipe
        self._mask = mask
        self._kept = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        line = b""
        read = getattr(self._pipe, "read1", self._pipe.read)
        with contextlib.suppress(OSError, ValueError):
            while piece := read(4096):
                self._kept = (self._kept + piece)[-TAIL:]
                *lines, line = _LINE.split(line + piece)
                self._show(b"".join(lines))
                if len(line) > TAIL:
                    self._show(line)
                    line = b""
        self._show(line)

    def _show(self, text: bytes) -> None:
        """Print whole lines: a value in two pieces would not be masked."""
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.buffer.write(self._mask(text.decode(errors="surrogateescape")).encode(errors="surrogateescape"))
            sys.stderr.buffer.flush()

    def text(self) -> str:
        """Return what was kept. A child of the stage may hold the pipe open for longer than a second."""
        self._thread.join(1.0)
        return self._kept.decode(errors="replace")


def _start(stage: Sequence[str], source: IO[bytes] | int, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(stage),
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        start_new_session=os.name == "posix",
    )


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Signal a stage and its children: each stage leads a group of its own. Windows has no groups to signal."""
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        elif process.poll() is None:
            process.send_signal(number)
