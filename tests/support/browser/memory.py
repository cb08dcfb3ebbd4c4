"""The memory of a browser that this process has started, as Linux counts it, in bytes."""

import contextlib
import os
from pathlib import Path


def browser_memory() -> dict[str, int]:
    """Return the proportional memory of the largest page (`renderer`), all pages (`renderers`), and all processes."""
    found = {"renderer": 0, "renderers": 0, "all": 0}
    for folder in _own_processes():
        with contextlib.suppress(OSError):  # it ended just now
            command = (folder / "cmdline").read_text()
            if "chromium" in command:
                lines = (folder / "smaps_rollup").read_text().splitlines()
                size = 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
                found["all"] += size
                if "--type=renderer" in command:
                    found["renderers"] += size
                    found["renderer"] = max(found["renderer"], size)
    return found


def _own_processes() -> list[Path]:
    """Return the folders in /proc of all processes that this one has started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return [Path(f"/proc/{pid}") for pid in found]
