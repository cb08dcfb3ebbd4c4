"""Takes samples of two or more things in turn, and keeps their medians and ratios."""

import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RUNS = 5
Work = Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How large everything is: as the issue has it, or small enough for a look in passing."""

    full: bool

    @property
    def big(self) -> int:
        """Return the bytes of the largest file."""
        return (2048 if self.full else 512) << 20

    @property
    def middle(self) -> int:
        """Return the bytes of a file in comparisons of ways to send it."""
        return (512 if self.full else 128) << 20

    @property
    def many(self) -> int:
        """Return how many files or tokens are many."""
        return 1_000_000 if self.full else 100_000

    @property
    def listed(self) -> int:
        """Return how many files are listed to their end."""
        return 100_000 if self.full else 10_000

    @property
    def seconds(self) -> int:
        """Return how long a sample of a rate takes."""
        return 4 if self.full else 1


@dataclass(frozen=True, kw_only=True)
class Row:
    """One comparison: `ratio` is ours over theirs, and the reach its highest or lowest good value."""

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
    """Run each in turn, so many times; what they return are the samples. A first turn is for warming up."""
    samples: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(runs + warm_up):
        for name, work in works.items():
            sample = work()
            if turn or not warm_up:
                samples[name].append(sample)
    return samples


def timed(work: Callable[[], object]) -> Work:
    """Make a work whose sample is the seconds that it takes."""

    def sample() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return sample


def compare(group: str, name: str, ours: list[float], theirs: list[float], **more: Any) -> Row:
    """Make a row; the ratio is that of the medians."""
    ratio = statistics.median(ours) / statistics.median(theirs)
    return Row(group=group, name=name, ours=ours, theirs=theirs, ratio=ratio, **{"unit": "s", **more})


@dataclass
class Results:
    """All rows of a run, written down after each group, so that a run that breaks off has said something."""

    path: Path
    full: bool
    rows: list[Row] = field(default_factory=list)
    peers: list[dict[str, Any]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Keep a row, and say it."""
        self.rows.append(row)
        sign = {None: " ", True: "✓", False: "✗"}[row.is_met]
        reach = f"{'≤' if row.is_most else '≥'} {row.reach:g}" if row.reach is not None else ""
        print(f"{sign} {row.group:10} {row.name:64} {row.ratio:8.2f} {reach}", flush=True)
        self.write()

    def write(self) -> None:
        """Write what there is by now."""
        data = {
            "full": self.full,
            "disk": disk(),
            "machine": machine(),
            "rows": [asdict(row) for row in self.rows],
            "peers": self.peers,
            "skipped": self.skipped,
        }
        self.path.write_text(json.dumps(data, indent=1) + "\n")


def disk() -> str:
    """Name the file system that the state is on."""
    where = tempfile.gettempdir()
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    inside = [(len(point), kind) for _, point, kind, *_ in mounts if where.startswith(point)]
    return max(inside)[1] if inside else "unknown"


def machine() -> dict[str, str]:
    """Say on what this ran."""
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
        "load": f"{os.getloadavg()[0]:.1f}",
    }
