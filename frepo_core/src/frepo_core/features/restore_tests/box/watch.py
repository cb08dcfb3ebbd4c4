"""Watches from outside what a box takes: memory of all its processes, and its folder."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from frepo_core.domain.sizes import readable_size

from .messages import Limits

PAUSE = 0.25
# So much of the file system stays free for others, or as much as the box may take if that is less.
RESERVE = 0.05


class Watch:
    """Looks at a box a few times a second."""

    def __init__(self, pid: int, folder: Path, limits: Limits) -> None:
        self._pid, self._folder, self._limits = pid, folder, limits
        self._next = 0.0

    def find_excess(self) -> str:
        """Return which limit the box has passed, in a sentence; empty for none, or if it is not time to look."""
        if time.monotonic() < self._next:
            return ""
        excess = self._memory() or self._disk()
        self._next = time.monotonic() + PAUSE
        return excess

    def _memory(self) -> str:
        if sum(map(_memory_of, descendants(self._pid))) <= self._limits.memory:
            return ""
        return f"it took more than {readable_size(self._limits.memory)} of memory (restore_tests.memory)"

    def _disk(self) -> str:
        try:
            used = _used(self._folder)
        except PermissionError:
            return "it has hidden what it writes"
        if used > self._limits.disk:
            return f"it wrote more than {readable_size(self._limits.disk)} (restore_tests.disk)"
        place = os.statvfs(self._folder)
        reserve = min(self._limits.disk, int(place.f_blocks * place.f_frsize * RESERVE))
        if place.f_bavail * place.f_frsize < reserve:
            return f"less than {readable_size(reserve)} were free in temp_directory"
        return ""


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that these have started."""
    children: dict[int, list[int]] = {}
    for each in _processes():
        with suppress(OSError, ValueError, IndexError):
            parent = int(Path(f"/proc/{each}/stat").read_bytes().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(each)
    found, waiting = [], [pid]
    while waiting:
        begun = children.get(waiting.pop(), [])
        found += begun
        waiting += begun
    return found


def _processes() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdecimal())


def _memory_of(pid: int) -> int:
    """Return the memory of a process in bytes; what it shares is divided by the number of those who do."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) << 10
    return 0


def _used(folder: Path) -> int:
    """Return the bytes on the disk below a folder. What is deleted meanwhile is left out."""
    total, waiting = 0, [folder]
    while waiting:
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
    return total
