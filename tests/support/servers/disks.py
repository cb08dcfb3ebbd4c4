"""Small disks for tests of full disks."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a disk of the given size, for example `2m`, on a folder; skip the test if mounting is not permitted."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


class Disk:
    """A disk that can be taken away from a folder and put back, with what is on it; an empty folder stays meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._disk = folder.with_name(f"{folder.name}-disk")
        folder.mkdir()
        self._mounts = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self._mounts.enter_context(small_disk(self._disk, "32m"))
        self.mount()
        return self

    def mount(self) -> None:
        """Put the disk back."""
        subprocess.run(["mount", "--bind", str(self._disk), str(self.folder)], check=True)

    def unmount(self) -> None:
        """Take the disk away."""
        subprocess.run(["umount", str(self.folder)], check=True)

    def __exit__(self, *_: object) -> None:
        if self.folder.is_mount():
            self.unmount()
        self._mounts.close()
