"""The parts of docs/tutorial.md, run block by block in the terminals that the page names."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from support.console.terminal import blocks
from support.paths import ROOT

PAGE = (ROOT / "docs/tutorial.md").read_text()
LOCAL_PARTS = ("Start the service", "Back up a database each night", "Write a plug-in")
PRODUCTION_PART = "Set up production"
START_SECONDS = 180


class Place(Protocol):
    """Something that runs the commands of a block, and may return what they print."""

    def run(self, code: str) -> str | None: ...


class FirstTerminal:
    """The terminal in which the service runs; a second `make serve` follows a stop.

    `inside` are words that let a command run elsewhere, `is_answered` says whether the service answers, which may take
    `seconds` to start.
    """

    def __init__(
        self,
        folder: Path,
        environment: dict[str, str],
        is_answered: Callable[[], bool],
        inside: Sequence[str] = (),
        seconds: float = START_SECONDS,
    ) -> None:
        self._folder, self._environment = folder, environment
        self._is_answered, self._inside, self._seconds = is_answered, inside, seconds
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, code: str) -> None:
        self.close()
        log = self._folder / "output"
        with log.open("ab") as output:
            command = [*self._inside, "bash", "-ec", code]
            self._process = subprocess.Popen(
                command, cwd=self._folder, env=self._environment, stdout=output, stderr=output, process_group=0
            )
        assert self._answers(self._process), log.read_text()

    def close(self) -> None:
        if self._process:
            os.killpg(self._process.pid, signal.SIGTERM)  # SIGINT is ignored if pytest runs in the background
            self._process.wait(20)
            self._process = None

    def _answers(self, process: "subprocess.Popen[bytes]") -> bool:
        """Wait until the service answers, or has ended."""
        deadline = time.monotonic() + self._seconds
        while process.poll() is None and time.monotonic() < deadline:
            if self._is_answered():
                return True
            time.sleep(0.1)
        return False


def run_part(title: str, terminals: Mapping[str, Place], adapt: Callable[[str], str] = str) -> None:
    """Run the commands of a part; fail if a shown line is not printed."""
    steps = blocks(PAGE, title)
    assert steps, f"docs/tutorial.md has no commands under {title!r}"
    for step in steps:
        printed = terminals[step.place].run(adapt(step.code)) or ""
        assert [] == [line for line in step.printed if line not in printed], f"{step.code}\nprinted:\n{printed}"
