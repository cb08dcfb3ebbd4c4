"""Fixtures that run `frepo`, in this process unless a test is about its start, with its state in a temporary folder."""

import contextlib
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from support.console.in_process import InProcessConsole
from support.logs import log_recorder
from support.paths import ROOT

FREPO = Path(sys.executable).parent / "frepo"
# Python reads these variables only when it starts.
INTERPRETERS = {"PYTHONPATH", "PYTHONIOENCODING", "PYTHONUTF8", "LANG", "LC_ALL"}


class Console:
    """Runs `frepo` with `environment` as its whole environment, so that the tester's own variables have no effect."""

    def __init__(self, folder, in_process):
        self.folder = folder
        self._in_process = in_process
        self.database = folder / "frepo.db"
        self.environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ} | {
            **log_recorder.environment(),
            "FREPO_INI": str(ROOT / "development.ini"),
            "APP_SECRETS_FILE": str(folder / "secrets.json"),
            "DATABASE_URL": f"sqlite:///{self.database}",
            "FS_LOCAL_DIRECTORY": str(folder / "storage"),
        }

    def run(self, *arguments, stdin="", stdout=None, **environment):
        """Run a command in the temporary folder; keyword arguments are environment variables.

        PACKAGES is the folder of what `install_package` has installed.
        """
        if environment.keys() & INTERPRETERS:
            return self.run_script(*arguments, **environment)
        files = {"stdin": stdin, "stdout": stdout, "packages": environment.pop("PACKAGES", None)}
        done = self._in_process.run(list(arguments), env=self.environment | environment, cwd=self.folder, **files)
        log_recorder.record_output(done.stderr)
        return done

    def run_script(self, *arguments, **environment):
        """Run the installed script itself, from a cold start."""
        if "PYTHONPATH" in environment and "PYTHONPATH" in self.environment:
            environment["PYTHONPATH"] += f":{self.environment['PYTHONPATH']}"
        done = self._start([FREPO, *arguments], environment)
        log_recorder.record_output(done.stderr)
        return done

    def on_terminal(self, *arguments):
        """Run the installed script on a terminal, where it must succeed; return what it prints there."""
        command = shlex.join([str(FREPO), *arguments])
        done = self._start(["script", "--quiet", "--return", "--command", command, "/dev/null"], {})
        assert done.returncode == 0, done.stdout
        log_recorder.record_output(done.stdout)
        return done.stdout

    def _start(self, words, environment):
        return subprocess.run(
            words,
            env=self.environment | environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def answer(self, *arguments, **more):
        """Run a command that must succeed; return its output without the line end."""
        done = self.run(*arguments, **more)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.removesuffix("\n")

    def refusal(self, *arguments, **more):
        """Run a command that must fail; return its error message. It prints no answer and no traceback."""
        done = self.run(*arguments, **more)
        assert (done.returncode, done.stdout) == (1, "")
        assert "Traceback" not in done.stderr
        return done.stderr

    def rows(self, query):
        """Run a query on the console's database."""
        connection = sqlite3.connect(self.database)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def change(self, statement):
        """Run a statement that changes the console's database."""
        with contextlib.closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute(statement)

    def count(self, table):
        """Count a table's rows; return 0 if no command has made the database yet."""
        return self.database.exists() and self.rows(f"SELECT count(*) FROM {table}")[0][0]


@pytest.fixture(scope="session")
def in_process(make_quick_engine):
    return InProcessConsole(make_quick_engine)


@pytest.fixture
def new_console(tmp_path, in_process):
    """A console whose database no command has made yet."""
    return Console(tmp_path, in_process)


@pytest.fixture(scope="session")
def make_console(tmp_path_factory, in_process, migrated):
    """Make consoles over empty databases: copying one is faster than migrating for each of some hundred tests."""

    def make(folder=None):
        console = Console(folder or tmp_path_factory.mktemp("console"), in_process)
        shutil.copy(migrated, console.database)
        return console

    return make


@pytest.fixture
def console(make_console, tmp_path):
    """A console over an empty database."""
    return make_console(tmp_path)


@pytest.fixture
def install_package(console):
    """Install a third-party package that has only entry points; return the variable that tells `console` so."""

    def install(entry_points):
        info = console.folder / "frepo_acme-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: frepo-acme\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)
        (info / "top_level.txt").write_text("acme\n")
        return {"PACKAGES": str(console.folder)}

    return install


@pytest.fixture
def ini_file(tmp_path) -> Path:
    """A small ini file that a test may change."""
    path = tmp_path / "own.ini"
    path.write_text("[app:main]\nuse = egg:frepo-core\napp.env = test\n")
    return path
