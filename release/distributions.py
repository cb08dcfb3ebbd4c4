"""Wheels and source distributions: the same sources make the same bytes."""

import gzip
import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from .sources import META, UMASK, Sources

BUILD = """
import sys
from setuptools import build_meta

target = sys.argv[1]  # setuptools replaces sys.argv
build_meta.build_wheel(target)
build_meta.build_sdist(target)
"""


def build_all(sources: Sources, target: Path) -> None:
    """Build the wheel and the source distribution of each distribution, and of the meta-distribution."""
    for folder in sources.distributions:
        build(sources, folder, target)
    # The folder of the meta-distribution has all the others.
    alone = sources.folder.with_name("frepo")
    alone.mkdir()
    for name in META:
        shutil.copy2(sources.folder / name, alone)
    build(sources, alone, target)


def build(sources: Sources, folder: Path, target: Path) -> None:
    """Build one distribution. Raises SystemExit with the output of the build if it fails."""
    # Without -P, a folder `build` of the sources would be imported instead of a library of this name.
    command = [sys.executable, "-P", "-W", "ignore", "-c", BUILD, str(target)]
    done = subprocess.run(
        command, cwd=folder, env=sources.environment, umask=UMASK, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{folder.name} cannot be built: {done.stdout}{done.stderr}")
    for path in target.glob(f"{folder.name}-*.tar.gz"):
        path.write_bytes(normalized(path.read_bytes(), sources.epoch))


def normalized(archive: bytes, epoch: int) -> bytes:
    """Return an archive with one time, one owner and one order: setuptools takes those of the disk."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(archive)) as old, tarfile.open(fileobj=plain, mode="w") as new:
        for entry in sorted(old.getmembers(), key=lambda one: one.name):
            content = old.extractfile(entry) if entry.isfile() else None
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "", ""
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            entry.pax_headers = {}
            new.addfile(entry, content)
    return gzip.compress(plain.getvalue(), mtime=epoch)
