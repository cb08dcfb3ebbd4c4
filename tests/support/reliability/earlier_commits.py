"""An earlier version of frepo, taken from the history of this repository, as a process."""

import os
import subprocess
import sys
import time
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

from support.servers.service import ROOT, START_SECONDS, Service

PACKAGES = ("frepo_core", "frepo_server", "frepo_storage_local", "frepo_strategies")
INI = "development.ini"
SERVER = "import sys; from pyramid.scripts.pserve import main; sys.exit(main(sys.argv))"
CONSOLE = "import sys; from {module} import {function}; sys.exit({function}())"


def unpack(commit: str, folder: Path) -> bool:
    """Extract the packages of a commit to a folder; return False if the commit is missing, as in a shallow clone."""
    present = _git("ls-tree", "--name-only", commit)
    if present is None:
        return False
    packages = [package for package in PACKAGES if package in present.decode().split()]
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", folder], input=_git("archive", commit, INI, *packages), check=True)
    for package in packages:
        _describe(folder / package)
    return True


def commit_of(revision: str) -> str | None:
    """Return the commit that added a migration, or None if the history is missing."""
    path = f"frepo_core/src/frepo_core/db/migrations/versions/{revision}_*.py"
    found = _git("log", "--diff-filter=A", "--format=%H", "--", path)
    return found.decode().strip() or None if found is not None else None


def _git(*arguments: str) -> bytes | None:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return None if done.returncode else done.stdout


def _describe(package: Path) -> None:
    """Write the metadata of an installed package, so that the plug-ins of that version are found."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    information = package / "src" / f"{package.name}-{project['version']}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    groups = project.get("entry-points", {}).items()
    lines = [
        f"[{group}]\n" + "".join(f'"{name}" = {where}\n' for name, where in found.items()) for group, found in groups
    ]
    (information / "entry_points.txt").write_text("\n".join(lines).replace('"', ""))


class EarlierService(Service):
    """A service that runs the code in the folder `code`, written by `unpack`, on the state of another service."""

    def __init__(self, folder: Path, code: Path, environment: dict[str, str]) -> None:
        super().__init__(folder, environment, code / INI)
        paths = [str(code / package / "src") for package in PACKAGES]
        paths += filter(None, [self.environment.get("PYTHONPATH")])
        own = {entry.name for package in PACKAGES for entry in entry_points(group="frepo") if _is_of(entry, package)}
        others = {entry.name for entry in entry_points(group="frepo")} - own
        project = tomllib.loads((code / "frepo_core/pyproject.toml").read_text())["project"]
        module, _, function = project["scripts"]["frepo"].partition(":")
        self._console = CONSOLE.format(module=module, function=function)
        self.environment |= {"PYTHONPATH": os.pathsep.join(paths), "PLUGINS_DISABLED": " ".join(sorted(others))}

    def frepo(self, *arguments: str) -> str:
        command = [sys.executable, "-c", self._console, "--ini", str(self.ini), *arguments]
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    def start(self) -> None:
        with self.log.open("ab") as log:
            program = [sys.executable, "-c", SERVER, str(self.ini), f"http_listen={self.address}"]
            self.process = subprocess.Popen(program, env=self.environment, stdout=log, stderr=log, cwd=self.folder)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The service did not start:\n{self.log.read_text()}")
            time.sleep(0.05)


def _is_of(entry, package: str) -> bool:
    return entry.dist is not None and entry.dist.name.replace("-", "_") == package
