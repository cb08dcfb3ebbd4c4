"""Measures the service that runs during the whole soak, and checks whether the values grow."""

import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

MIB = 1 << 20
# Names of the measures, units, and the growth between the second and the last quarter that is noise. The descriptors
# include clients' connections: the soak opens three partial requests at a time, which may affect only one quarter.
MEASURES = {
    "memory": ("MiB", 8.0),
    "threads": ("", 2.0),
    "descriptors": ("", 8.0),
    "disk": ("MiB", 10.0),
}


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The service at one moment, `seconds` after the start; sizes in MiB."""

    seconds: float
    memory: float
    threads: float
    descriptors: float
    disk: float


def take(pid: int, started: float, disk: int) -> Sample:
    """Measure a process."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return Sample(
        seconds=time.monotonic() - started,
        memory=int(status["VmRSS"].split()[0]) / 1024,
        threads=int(status["Threads"]),
        descriptors=len(list(Path(f"/proc/{pid}/fd").iterdir())),
        disk=disk / MIB,
    )


def quarters(samples: list[Sample], measure: str) -> tuple[float, float]:
    """Return what is typical of the second and of the last quarter; the first quarter is the warm-up.

    This is the median, but of the disk the least: it fills until a sweep, sooner or later, and a leak is what stays
    then.
    """
    values = [getattr(sample, measure) for sample in samples]
    quarter = max(len(values) // 4, 1)
    typical = min if measure == "disk" else median
    return typical(values[quarter : 2 * quarter] or values), typical(values[-quarter:])


def growth(samples: list[Sample]) -> list[str]:
    """Report which measures grew, and by how much."""
    said = []
    for measure, (unit, noise) in MEASURES.items():
        before, after = quarters(samples, measure)
        if after - before > max(noise, before * 0.1):
            said.append(f"{measure} grew from {before:.0f} to {after:.0f} {unit}".strip())
    return said
