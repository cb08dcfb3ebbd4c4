"""Archives with the wheels of release/pinned.txt and ours, for machines that reach no package index."""

import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from packaging.markers import Marker

from . import pinned
from .sources import Sources

# The classifiers name the same, and tests/production/packages/test_released_wheels.py installs with each.
PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
# glibc 2.17 to 2.28, the oldest first: it is the one that most machines have.
GLIBC = ("manylinux2014_{}", *(f"manylinux_2_{minor}_{{}}" for minor in range(17, 29)))
PIN = re.compile(r"(?m)^(?P<pin>\S+==\S+)(?: ; (?P<marker>.+?))?(?P<hashes>(?: \\\n +--hash=\S+)+)$")


def build(sources: Sources, target: Path) -> None:
    """Write frepo-VERSION-wheels-MACHINE.tar for each kind. Downloads the pinned wheels."""
    own = sorted(target.glob("*.whl"))
    if not own:
        sys.exit("The archives have our wheels, too: build the part `wheels`, too")
    for machine, name in MACHINES.items():
        folder = sources.folder.with_name(f"wheels-{machine}")
        for python in PYTHONS:
            _download(sources, python, name, folder)
        root = f"frepo-{sources.version}-wheels-{machine}"
        (target / f"{root}.tar").write_bytes(packed([*own, *folder.iterdir()], root, sources.epoch))


def required(python: str, machine: str) -> Iterator[str]:
    """Yield the lines of release/pinned.txt that are meant for a Python on Linux, without their conditions."""
    target = {"python_version": python, "python_full_version": f"{python}.0", "platform_machine": machine}
    for found in PIN.finditer(pinned.FILE.read_text()):
        # pip would compare the conditions with the Python that it runs with.
        if not found["marker"] or Marker(found["marker"]).evaluate(target):
            yield f"{found['pin']}{found['hashes']}\n"


def packed(files: list[Path], root: str, epoch: int) -> bytes:
    """Return an archive of files with one time, one owner and one order. Wheels are compressed already."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(files, key=lambda one: one.name):
            entry = tarfile.TarInfo(f"{root}/{path.name}")
            entry.size, entry.mtime, entry.mode = path.stat().st_size, epoch, 0o644
            with path.open("rb") as source:
                archive.addfile(entry, source)
    return content.getvalue()


def _download(sources: Sources, python: str, machine: str, folder: Path) -> None:
    wanted = folder.with_name(f"{folder.name}-{python}.txt")
    wanted.write_text("".join(required(python, machine)))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--only-binary=:all:", "--implementation=cp", f"--python-version={python}"]
    command += [f"--platform={form.format(machine)}" for form in GLIBC]
    command += ["--dest", str(folder), "-r", str(wanted)]
    done = subprocess.run(command, env=sources.environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"The wheels for Python {python} on {machine} cannot be downloaded: {done.stdout}{done.stderr}")
