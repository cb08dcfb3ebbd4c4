"""What `frepo doctor` finds about the storage `local`: blobs that do not survive a restart, and who can move them."""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from frepo_core.plugins import DoctorFinding

from .modes import keeps_modes

MOUNTS = Path("/proc/self/mountinfo")
_VOLATILE = {"tmpfs", "ramfs"}


def examine(root: Path, mounts: Path = MOUNTS) -> Iterator[DoctorFinding]:
    """Yield what is wrong with the folder of the blobs; one that does not exist yet is not examined."""
    if not root.is_dir():
        return
    kind = find_kind(root, mounts.read_text().splitlines()) if mounts.exists() else ""
    if kind in _VOLATILE:
        yield DoctorFinding(
            level="problem",
            message=f"{root} is in memory ({kind}): all blobs are lost when this machine restarts",
            remedy="Move the folder to a disk, and set fs.local.directory",
        )
    if kind == "overlay":
        yield DoctorFinding(
            level="problem",
            message=f"{root} is in the layer of a container ({kind}): all blobs are lost with the container",
            remedy="Mount a volume there, see deploy/",
        )
    with contextlib.suppress(OSError):  # a folder that this user cannot write to
        if not keeps_modes(root):
            yield DoctorFinding(
                level="warning",
                message=f"{root} is on a file system without modes ({kind or 'unknown'}): "
                "fs.local.file_permissions has no effect, and its mount options decide who can read the blobs",
                remedy="Mount it with options that let only this user read it, such as umask=077, or use ext4 or XFS",
            )
    if root.stat().st_mode & stat.S_IWOTH:
        yield DoctorFinding(
            level="warning",
            message=f"Other users of this machine can rename what is in {root}",
            remedy=f"Run `chmod o-w {root}`",
        )


def find_kind(folder: Path, lines: Iterable[str]) -> str:
    """Return the kind of the file system of a folder, from the lines of mountinfo (proc(5)); empty if unknown."""
    real, best, kind = os.path.realpath(folder), "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        point = before.split()[4].encode().decode("unicode_escape")
        if (real == point or real.startswith(f"{point.rstrip('/')}/")) and len(point) >= len(best):
            best, kind = point, after.split()[0]
    return kind
