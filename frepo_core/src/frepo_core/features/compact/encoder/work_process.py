"""A process of low priority that encodes contents: a task on each line of its input, a result on each of its output.

It knows files only: no database, no storage and no secrets. It ends with its input.
"""

import json
import os
import sys
import time
from dataclasses import asdict
from typing import Any

from frepo_core.errors import FrepoError

from ..encodings.format import LARGE_SEGMENT
from ..processor_share import ProcessorShare
from .choice import Choice
from .tasks import Task

PROGRESS_SECONDS = 0.5


def main() -> None:
    """Work until the input ends, at the priority in the first argument: by how much it is lower than usual.

    The second one is the part of a processor that it uses at most.
    """
    os.nice(int(sys.argv[1]))
    share = float(sys.argv[2])
    time.sleep(time.process_time() * (1 / share - 1))  # starting has used the processor, too
    choice = Choice()
    for line in sys.stdin:
        _answer(_run(choice, Task.from_json(line), share))


def _run(choice: Choice, task: Task, share: float) -> dict[str, Any]:
    pace = _Pace(task.rate, share)
    try:
        outcome = choice.choose(task, pace)
        pace()
    except (FrepoError, OSError) as error:
        return {"error": getattr(error, "message", None) or str(error)}
    return asdict(outcome)


def _answer(values: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


class _Pace:
    """Called before each segment, and at the end: sleeps as the rate and the part of a processor demand.

    It reports progress while it does.
    """

    def __init__(self, rate: int, share: float) -> None:
        self._rate = rate
        self._done = 0
        self._began = self._reported = time.monotonic()
        self._share = ProcessorShare(share, waiting=self._report)

    def __call__(self) -> None:
        while self._rate and (left := self._began + self._done / self._rate - time.monotonic()) > 0:
            time.sleep(min(left, PROGRESS_SECONDS))
            self._report()
        self._share()
        self._report()
        self._done += LARGE_SEGMENT

    def _report(self) -> None:
        if time.monotonic() - self._reported >= PROGRESS_SECONDS:
            self._reported = time.monotonic()
            _answer({"done": self._done})


if __name__ == "__main__":
    main()
