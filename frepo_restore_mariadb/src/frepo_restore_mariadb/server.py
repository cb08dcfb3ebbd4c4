"""A throw-away server of MariaDB: its data and its socket are in one folder, and nobody else can reach it."""

import os
import re
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from frepo_core.plugins import NotDecided

DATABASE = OWNER = "restored"
SYSTEM = {"mysql", "sys", "performance_schema", "information_schema"}
_PLACES = (Path("/usr"), Path("/usr/local"))
# Nothing has to survive a crash. Events of the dump do not run.
_OPTIONS = {
    "innodb-flush-log-at-trx-commit": "0",
    "innodb-doublewrite": "0",
    "innodb-log-file-size": "32M",
    "innodb-buffer-pool-size": "64M",
    "max-allowed-packet": "1G",
    "max-connections": "20",
    "performance-schema": "OFF",
    "event-scheduler": "OFF",
    "local-infile": "0",
    "character-set-server": "utf8mb4",
    "default-time-zone": "+00:00",
}
_START_SECONDS = 60


class Server:
    """A running server. The name and the password of its administrator are known to the engine only."""

    def __init__(self, home: Path, folder: Path) -> None:
        self._home = home
        self._folder = folder
        self._administrator = f"frepo_{secrets.token_hex(8)}"
        self._password = secrets.token_hex(16)

    def command(self, *words: str, user: str = OWNER) -> list[str]:
        """Return a command of the client."""
        client = [str(self._home / "bin/mariadb"), "--no-defaults", f"--socket={self._folder}/socket", f"--user={user}"]
        return [*client, "--protocol=socket", "--local-infile=0", "--max-allowed-packet=1G", *words]

    def ask(self, sql: str, database: str) -> list[str]:
        """Return the lines that a query of the user gives. Raises `ValueError` with what MariaDB says."""
        is_read_only = "--init-command=SET SESSION TRANSACTION READ ONLY"
        words = ["--batch", "--raw", "--skip-column-names", "--binary-mode", "--loose-sandbox", is_read_only]
        done = run([*self.command(*words, "--execute", sql), database])
        if done.returncode:
            said = next((line for line in done.stderr.splitlines() if line.startswith("ERROR")), "")
            raise ValueError(said or f"mariadb ended with {done.returncode}")
        return done.stdout.splitlines()

    def set_up(self) -> None:
        """Make the administrator, a user with a database, and nobody else. Raises `NotDecided`."""
        # A definer of the dump is none of these, so that what it defines has nobody's rights.
        name = f"'{self._administrator}'@'localhost'"
        others = "DELETE FROM mysql.{table} WHERE User NOT IN ('{name}', '{owner}')"
        deleted = [
            others.format(table=table, name=self._administrator, owner=OWNER)
            for table in ("global_priv", "tables_priv")
        ]
        self._run(
            "root",
            f"CREATE USER {name} IDENTIFIED BY '{self._password}'",
            f"GRANT ALL ON *.* TO {name} WITH GRANT OPTION",
            f"CREATE USER '{OWNER}'@'localhost'",
            f"GRANT SET USER ON *.* TO '{OWNER}'@'localhost'",
            *deleted,
            "FLUSH PRIVILEGES",
            f"CREATE DATABASE {DATABASE}",
        )
        self.allow(DATABASE)

    def allow(self, database: str) -> None:
        """Give the user all rights on a database. Raises `NotDecided`."""
        pattern = re.sub(r"([_%\\])", r"\\\1", database)
        self._run(self._administrator, f"GRANT ALL ON {quoted(pattern)}.* TO '{OWNER}'@'localhost'")

    def _run(self, user: str, *statements: str) -> None:
        words = ["--batch", "--execute", "; ".join(statements)]
        done = run(self.command(*words, user=user), MYSQL_PWD="" if user == "root" else self._password)
        if done.returncode:
            raise NotDecided(f"the server of the test cannot be set up: {done.stderr.strip()}")


@contextmanager
def started_server(version: str, folder: Path) -> Iterator[Server]:
    """Make a server of a major version with an empty database. Leaving ends it. Raises `NotDecided`."""
    home = _find_home(version)
    data = folder / "data"
    _make_tables(home, data)
    places = [f"--datadir={data}", f"--socket={folder}/socket", f"--tmpdir={folder}", f"--secure-file-priv={folder}"]
    words = [f"--{name}={value}" for name, value in _OPTIONS.items()]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [str(home / "sbin/mariadbd"), "--no-defaults", "--skip-networking", *_as_root(), *places, *words],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
    try:
        server = Server(home, folder)
        _wait(server, folder, process)
        server.set_up()
        yield server
    finally:
        process.kill()
        process.wait()


def quoted(name: str) -> str:
    """Return a name for a statement."""
    return f"`{name.replace('`', '``')}`"


def _find_home(version: str) -> Path:
    if not re.fullmatch(r"\d{1,2}\.\d{1,2}", version):
        raise NotDecided(f"{version!r:.20} is no major version of MariaDB")
    others = []
    for home in _PLACES:
        program = home / "sbin/mariadbd"
        if program.exists():
            found = re.search(r"Ver (\d+\.\d+)\.", run([str(program), "--no-defaults", "--version"]).stdout)
            if found and found[1] == version:
                return home
            others.append(found[1] if found else "?")
    there = f", only {', '.join(others)}" if others else ""
    raise NotDecided(f"MariaDB {version} is not installed here{there}: apt-get install mariadb-server")


def _as_root() -> list[str]:
    """Return what the server asks of root, who runs it without a box only."""
    return [] if os.geteuid() else ["--user=root"]


def _make_tables(home: Path, data: Path) -> None:
    words = ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--force"]
    small = "--innodb-log-file-size=32M"  # as the server has it
    done = run([str(home / "bin/mariadb-install-db"), "--no-defaults", f"--datadir={data}", *words, small, *_as_root()])
    if done.returncode:
        raise NotDecided(f"mariadb-install-db failed: {' '.join((done.stdout + done.stderr).split())[-500:]}")


def _wait(server: Server, folder: Path, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_SECONDS
    ready = server.command("--execute", "DO 1", user="root")
    while run(ready).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            said = " ".join((folder / "server.log").read_text(errors="replace").split())
            raise NotDecided(f"the server of the test did not start: {said[-500:]}")
        time.sleep(0.05)


def run(command: list[str], **more: str) -> "subprocess.CompletedProcess[str]":
    """Run a program, and return what it has written."""
    environment = os.environ | more
    return subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
