"""A process of low priority that encodes contents: a task on each line of its input, a result on each of its output.

It knows files only: no database, no storage and no secrets. It ends with its input.
"""

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from frepo_core.errors import FrepoError

from .decoder import DecodedContent
from .encoder import Base, encode
from .format import SEGMENT_SIZE, Head

LEAST_SAVED = 0.2
# A difference that is larger than this part of its content is compared with the compressed content.
GOOD_DELTA = 0.2
PROGRESS_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True)
class ObjectFile:
    """A file with an object: its path, its encoding (`raw`, `zstd`, `delta`), and the SHA-256 of its content."""

    path: str
    encoding: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Task:
    """A content to encode into the file `target`, in the way that saves most.

    `content` and `base` begin with the object itself; the objects that each needs as its base follow. Sizes are those
    of the contents, in bytes. `rate` is in bytes a second; 0: no limit. It uses at most the part `cores` of a
    processor.
    """

    content: list[ObjectFile]
    size: int
    base: list[ObjectFile]
    base_size: int
    target: str
    rate: int
    cores: float = 0.5

    def to_json(self) -> str:
        """Return the task as a line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> "Task":
        """Make the task of a line."""
        values = json.loads(line)
        for name in ("content", "base"):
            values[name] = [ObjectFile(**each) for each in values[name]]
        return cls(**values)


def main() -> None:
    """Work until the input ends, at the priority in the first argument: by how much it is lower than usual."""
    os.nice(int(sys.argv[1]))
    for line in sys.stdin:
        _answer(_run(Task.from_json(line)))


def _run(task: Task) -> dict[str, Any]:
    try:
        return {"codec": choose(task, _Pace(task.rate, task.cores))}
    except (FrepoError, OSError) as error:
        return {"error": getattr(error, "message", None) or str(error)}


def _answer(values: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def choose(task: Task, keep_going: "_Pace") -> str:
    """Write the object that saves most to the target, and return its codec; `raw` if none saves 20 %.

    A difference makes a content depend on another one, so it must save 20 % against the compressed content.
    """
    most = task.size * (1 - LEAST_SAVED)
    delta = _encode(task, task.target, keep_going, has_base=True) if task.base else None
    if delta is not None and delta.stored <= task.size * GOOD_DELTA:
        return delta.codec
    other = f"{task.target}.zstd" if delta else task.target
    alone = _encode(task, other, keep_going, has_base=False)
    if delta is not None and delta.stored <= min(most, alone.stored * (1 - LEAST_SAVED)):
        Path(other).unlink()
        return delta.codec
    if other != task.target:
        Path(other).replace(task.target)
    return alone.codec if alone.stored <= most else "raw"


def _encode(task: Task, target: str, keep_going: "_Pace", *, has_base: bool) -> Head:
    base = None
    with _open(task.content, is_base=False) as content, Path(target).open("w+b") as file:
        if has_base:
            base = Base(content=_open(task.base, is_base=True), digest=task.base[0].digest, size=task.base_size)
        try:
            return encode(
                content, file, digest=task.content[0].digest, size=task.size, base=base, keep_going=keep_going
            )
        finally:
            if base:
                base.content.close()


def _open(objects: list[ObjectFile], *, is_base: bool) -> BinaryIO:
    first, bases = objects[0], objects[1:]
    file = Path(first.path).open("rb")  # noqa: SIM115  # the caller closes it
    if first.encoding == "raw":
        return file
    try:
        content = DecodedContent(
            file, digest=first.digest, open_base=lambda _: _open(bases, is_base=True), is_base=is_base
        )
    except BaseException:
        file.close()
        raise
    return cast(BinaryIO, content)


class _Pace:
    """Called before each segment: sleeps as the rate and the part of a processor demand, and reports progress."""

    def __init__(self, rate: int, cores: float) -> None:
        self._rate = rate
        self._cores = cores
        self._done = 0
        self._used = time.process_time()
        self._began = self._at = self._reported = time.monotonic()

    def __call__(self) -> None:
        now, used = time.monotonic(), time.process_time()
        until = self._at + (used - self._used) / self._cores
        if self._rate:
            until = max(until, self._began + self._done / self._rate)
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, PROGRESS_SECONDS))
            self._report()
        self._report()
        self._done += SEGMENT_SIZE
        self._at, self._used = max(now, time.monotonic()), time.process_time()

    def _report(self) -> None:
        if time.monotonic() - self._reported >= PROGRESS_SECONDS:
            self._reported = time.monotonic()
            _answer({"done": self._done})


if __name__ == "__main__":
    main()
