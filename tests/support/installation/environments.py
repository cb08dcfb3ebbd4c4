"""Clean environments that contain only wheels: they import nothing from frepo's source folders."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from support.logs import log_recorder
from support.paths import ROOT

EXAMPLES = [ROOT / "examples/frepo-storage-sftp", ROOT / "examples/frepo-strategy-keep-daily"]
OWN = [path.parent for path in sorted(ROOT.glob("frepo_*/pyproject.toml"))]
LEFT_BEHIND = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", ".*", "tests", "var")
# If true, pip downloads the dependencies, as for users. Otherwise those of this environment are linked, which is fast.
FROM_INDEX = os.environ.get("THIRD_PARTY_DEPENDENCIES") == "index"
BUILD = """
import os, sys
from setuptools.build_meta import build_wheel

for source in sys.argv[2:]:
    if os.fork() == 0:
        os.chdir(source)
        build_wheel(sys.argv[1])
        os._exit(0)
    if os.wait()[1]:
        sys.exit(f"No wheel can be built of {source}")
"""


def build_wheels(folder: Path) -> Path:
    """Build a wheel of each distribution, from a copy: a source folder may contain files of an earlier build.

    This calls the common build backend as pip would, but in one fork for each distribution: pip starts the backend
    three times for each wheel. The tests of the commands of docs/plugins.md run `pip wheel` itself.
    """
    sources = []
    for path in [*OWN, ROOT, *EXAMPLES]:
        source = folder / "source" / path.name
        if path == ROOT:
            source.mkdir(parents=True)
            for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "development.ini", "production.ini"):
                shutil.copy(path / name, source)
        else:
            shutil.copytree(path, source, ignore=LEFT_BEHIND)
        sources.append(source)
    return build(sources, folder / "wheels")


def build(sources: Iterable[Path], wheels: Path) -> Path:
    """Build a wheel of each folder with sources; return the folder with the wheels."""
    wheels.mkdir()
    _run_python("-W", "ignore", "-c", BUILD, str(wheels), *map(str, sources))
    return wheels


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A virtual environment below `folder`, and the wheels that pip may install in it."""

    folder: Path
    wheels: Path

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of a shell in which this environment is active."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        path = os.pathsep.join([str(self.bin), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        return kept | {"PATH": path, "PYTHONWARNINGS": "ignore", **log_recorder.environment(), **self._pip_variables}

    @property
    def _pip_variables(self) -> dict[str, str]:
        alone = {} if FROM_INDEX else {"PIP_NO_INDEX": "1"}
        return alone | {
            "PIP_PYTHON": str(self.bin / "python"),
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_NO_BUILD_ISOLATION": "0",  # pip inverts this value: it switches the option off
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def install(self, *packages: str) -> None:
        _pip("install", "--quiet", *packages, **self._pip_variables)

    def run(self, *command: str, cwd: Path | None = None, **variables: str) -> str:
        """Run a program of this environment; return its output."""
        done = subprocess.run(
            command,
            env=self.variables | variables,
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        log_recorder.record_output(done.stderr)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout


def make_environment(folder: Path, wheels: Path, *packages: str) -> Environment:
    """Make an environment and install these packages, from wheels."""
    venv.create(folder, symlinks=True)
    environment = Environment(folder=folder, wheels=wheels)
    if not FROM_INDEX:
        _link_dependencies(environment)
    if packages:
        environment.install(*packages)
    return environment


def _link_dependencies(environment: Environment) -> None:
    """Link the packages installed here into the environment, except the code and metadata of frepo."""
    here = Path(next(path for path in sys.path if path.endswith("site-packages")))
    links = environment.folder / "dependencies"
    links.mkdir()
    for path in here.iterdir():
        if not path.name.startswith(("frepo", "__editable__", "__pycache__")) and path.suffix != ".pth":
            (links / path.name).symlink_to(path)
    (site,) = environment.folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(f"{links}\n")
    for name in ("pserve", "pytest"):
        script = (Path(sys.executable).parent / name).read_text().splitlines(keepends=True)
        (environment.bin / name).write_text("".join([f"#!{environment.bin}/python\n", *script[1:]]))
        (environment.bin / name).chmod(0o755)


def _pip(*arguments: str, **variables: str) -> None:
    _run_python("-m", "pip", *arguments, **variables)


def _run_python(*arguments: str, **variables: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"python {' '.join(arguments)}: {done.stdout}{done.stderr}"
