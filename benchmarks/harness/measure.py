"""Samples two or more functions alternately, and keeps the medians and ratios."""

import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RUNS = 5
Work = Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes and counts of a run: of a full run, or small ones for a quick run."""

    full: bool

    @property
    def big(self) -> int:
        """Return the size of the largest file, in bytes."""
        return (2048 if self.full else 512) << 20

    @property
    def middle(self) -> int:
        """Return the size of the file that compares ways of sending, in bytes."""
        return (512 if self.full else 128) << 20

    @property
    def many(self) -> int:
        """Return the number of files or tokens of a large installation."""
        return 1_000_000 if self.full else 100_000

    @property
    def listed(self) -> int:
        """Return the number of files that a complete listing returns."""
        return 100_000 if self.full else 10_000

    @property
    def seconds(self) -> int:
        """Return the duration of a sample of a rate."""
        return 4 if self.full else 1


@dataclass(frozen=True, kw_only=True)
class Row:
    """One comparison: `ratio` is ours divided by theirs, `reach` its target: a maximum if `is_most`, else a minimum."""

    group: str
    name: str
    ours: list[float]
    theirs: list[float]
    unit: str
    ratio: float
    reach: float | None = None
    is_most: bool = True
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """Return whether the target is met; None without a target."""
        if self.reach is None:
            return None
        return self.ratio <= self.reach if self.is_most else self.ratio >= self.reach


def alternate(works: Mapping[str, Work], runs: int = RUNS, warm_up: bool = True) -> dict[str, list[float]]:
    """Run the works alternately, `runs` times each; return their samples. A first round warms up and is not counted."""
    samples: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(runs + warm_up):
        for name, work in works.items():
            sample = work()
            if turn or not warm_up:
                samples[name].append(sample)
    return samples


def timed(work: Callable[[], object]) -> Work:
    """Return a work whose sample is its duration in seconds."""

    def sample() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return sample


def compare(group: str, name: str, ours: Sequence[float], theirs: Sequence[float], **more: Any) -> Row:
    """Return a row with the ratio of the medians."""
    ratio = statistics.median(ours) / statistics.median(theirs)
    return Row(group=group, name=name, ours=list(ours), theirs=list(theirs), ratio=ratio, **{"unit": "s", **more})


def compare_with_goal(group: str, name: str, ours: list[float], goal: float, **more: Any) -> Row:
    """Return a row that compares the median with a maximum, which depends on the machine."""
    return compare(group, name, ours, [goal] * len(ours), reach=1.0, **more)


@dataclass
class Results:
    """All rows of a run. They are written after each group, so that an aborted run keeps its results."""

    path: Path
    full: bool
    rows: list[Row] = field(default_factory=list)
    peers: list[dict[str, Any]] = field(default_factory=list)
    series: list[dict[str, Any]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    machines: dict[str, dict[str, str]] = field(default_factory=dict)  # by group: its machine, the day and the load

    def add(self, row: Row) -> None:
        """Add a row and print it."""
        self.rows.append(row)
        sign = {None: " ", True: "✓", False: "✗"}[row.is_met]
        reach = f"{'≤' if row.is_most else '≥'} {row.reach:g}" if row.reach is not None else ""
        print(f"{sign} {row.group:10} {row.name:64} {row.ratio:8.2f} {reach}", flush=True)
        self.write()

    def write(self) -> None:
        """Write the rows that exist so far."""
        data = {
            "full": self.full,
            "machine": machine(full=self.full),
            "machines": self.machines,
            "rows": [asdict(row) for row in self.rows],
            "peers": self.peers,
            "series": self.series,
            "skipped": self.skipped,
        }
        self.path.write_text(json.dumps(data, indent=1) + "\n")


def disk() -> str:
    """Return the name of the file system of the state."""
    where = tempfile.gettempdir()
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    inside = [(len(point), kind) for _, point, kind, *_ in mounts if where.startswith(point)]
    return max(inside)[1] if inside else "unknown"


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def machine(*, full: bool) -> dict[str, str]:
    """Describe the machine and the form of this run."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if "model name" in line
    ]
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "day": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "load": f"{os.getloadavg()[0]:.1f}",
        "disk": disk(),
        "form": "full" if full else "short",
    }
