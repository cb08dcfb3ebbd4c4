"""A copy of this tree with an environment of its own, in which the source is broken and tests are run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.installation.environments import make_environment
from support.paths import ROOT

from .entries import Break

# A test that hangs has not noticed anything.
LONGEST_TEST = 300


class CopiedTree:
    """What is in the folder of this project, with changes that are not committed, and without what git ignores."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        self._python = self._make_environment()

    def run(self, *tests: str) -> subprocess.CompletedProcess[str]:
        """Run tests in the copy, on SQLite, to the first failure. Raises `TimeoutExpired` if they hang."""
        options = ["-q", "-x", "-p", "no:cacheprovider", "--databases", "sqlite"]
        return subprocess.run(
            [self._python, "-m", "pytest", *options, *tests],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=LONGEST_TEST * len(tests),
        )

    @contextmanager
    def broken(self, entry: Break) -> Iterator[None]:
        """Have one break in the copy."""
        path = self.folder / entry.file
        text = path.read_text()
        path.write_text(entry.apply(text))
        try:
            yield
        finally:
            path.write_text(text)

    def _make_environment(self) -> Path:
        """Make an environment with the packages of this one, in which ours are those of the copy."""
        environment = make_environment(self.folder / ".venv", wheels=self.folder)
        (site,) = environment.folder.glob("lib/python*/site-packages")
        sources = [path.parent / "src" for path in sorted(self.folder.glob("frepo_*/pyproject.toml"))]
        (site / "frepo.pth").write_text("".join(f"{source}\n" for source in sources))
        here = next(path for path in sys.path if path.endswith("site-packages"))
        for path in Path(here).glob("frepo*.dist-info"):
            shutil.copytree(path, site / path.name)
        for script in Path(sys.executable).parent.iterdir():
            if script.is_file() and not (environment.bin / script.name).exists():
                _copy_script(script, environment.bin)
        return environment.bin / "python"


def _copy_script(script: Path, target: Path) -> None:
    """Copy a script that Python runs, with the Python of the target."""
    with script.open("rb") as file:
        first, rest = file.readline(), file.read()
    if first.startswith(b"#!") and os.fsencode(script.parent) in first:
        (target / script.name).write_bytes(f"#!{target}/python\n".encode() + rest)
        (target / script.name).chmod(0o755)
