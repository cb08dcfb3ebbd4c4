"""Starts the process that encodes, gives it tasks, and ends it if the job must not go on."""

import contextlib
import json
import os
import selectors
import subprocess
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from frepo_core.errors import FrepoError

from .encoder import work_process
from .encoder.choice import Outcome
from .encoder.tasks import Task

WAIT_SECONDS = 1.0
# A tenth of the share of other processes: with 19, a busy machine starves it for hours.
NICENESS = 10
# Of a processor. With what is not counted, as the end of a process, it is half of one at most.
SHARE = 0.45
# For the C library of GNU: keep buffers of a segment for the next one. Getting them from the system for each takes a
# third of the time.
MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(128 << 20)}


class EncodingError(FrepoError):
    """A content could not be encoded. It stays as it is."""


class EncoderProcess:
    """One process for one run: starting it takes longer than encoding a small content."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._read = b""

    def encode(self, task: Task, keep_going: Callable[[], None]) -> Outcome:
        """Return the codec of the object in the target and its SHA-256; `raw` if none saves enough.

        `keep_going` is called about once a second; what it raises ends the process. Raises `EncodingError`.
        """
        process = self._started()
        assert process.stdin
        try:
            process.stdin.write(task.to_json().encode() + b"\n")
            process.stdin.flush()
            answer = self._wait(process, keep_going)
        except BrokenPipeError:
            self.close()
            raise EncodingError("the process that encodes has ended") from None
        except BaseException:
            self.close()
            raise
        if "error" in answer:
            raise EncodingError(str(answer["error"]))
        return Outcome(**answer)

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            command = [sys.executable, "-m", work_process.__name__, str(NICENESS), str(SHARE)]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | MEMORY
            )
        return self._process

    def _wait(self, process: "subprocess.Popen[bytes]", keep_going: Callable[[], None]) -> dict[str, Any]:
        """Return the answer to the task. Notes about the progress come before it."""
        assert process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                while b"\n" in self._read:
                    line, self._read = self._read.split(b"\n", 1)
                    answer: dict[str, Any] = json.loads(line)
                    if "done" not in answer:
                        return answer
                if selector.select(WAIT_SECONDS):
                    data = os.read(process.stdout.fileno(), 1 << 16)
                    if not data:
                        raise BrokenPipeError
                    self._read += data
                keep_going()

    def close(self) -> None:
        """End the process."""
        process, self._process, self._read = self._process, None, b""
        if process is not None:
            process.kill()
            with contextlib.suppress(BrokenPipeError), process:  # closing its input writes what it has not read
                pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
