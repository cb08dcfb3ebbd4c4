"""A throw-away server of PostgreSQL: its data and its socket are in one folder, and nobody else can reach it."""

import os
import re
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from frepo_core.plugins import NotDecided

ADMINISTRATOR, OWNER = "frepo_administrator", "restored"
_PLACES = ("/usr/lib/postgresql/{version}/bin", "/usr/pgsql-{version}/bin", "/usr/local/pgsql-{version}/bin")
# Nothing has to survive a crash, and shared memory of the machine is scarce in the box.
_OPTIONS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_connections": "20",
    "shared_buffers": "64MB",
    "dynamic_shared_memory_type": "mmap",
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
    "autovacuum": "off",
    "timezone": "UTC",
}
# The owner of the restored database needs no password; the superuser has one that only the engine knows.
_ACCESS = f"local all {ADMINISTRATOR} scram-sha-256\nlocal all all trust\n"
_START_SECONDS, _STOP_SECONDS = 60, 10


class Server:
    """A running server."""

    def __init__(self, programs: Path, folder: Path, password: str) -> None:
        self._programs = programs
        self._folder = folder
        self._password = password

    def command(self, program: str, *words: str) -> list[str]:
        """Return a command of PostgreSQL that works as the owner of the restored database."""
        return [str(self._programs / program), "-h", str(self._folder), "-U", OWNER, "-d", OWNER, "-w", *words]

    def ask(self, sql: str) -> list[str]:
        """Return the lines that a query of the owner gives. Raises `ValueError` with what PostgreSQL says."""
        command = self.command("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql)
        options = {"PGOPTIONS": "-c default_transaction_read_only=on"}
        done = _run(command, options)
        if done.returncode:
            raise ValueError(done.stderr.strip().partition("\n")[0] or f"psql ended with {done.returncode}")
        return done.stdout.splitlines()

    def administer(self, *statements: str) -> None:
        """Run statements as the superuser."""
        words = [word for statement in statements for word in ("-c", statement)]
        command = [str(self._programs / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(self._folder)]
        command += ["-U", ADMINISTRATOR, "-d", "postgres", *words]
        done = _run(command, {"PGPASSWORD": self._password})
        if done.returncode:
            raise NotDecided(f"the server of the test cannot be set up: {done.stderr.strip()}")


@contextmanager
def started_server(version: str, folder: Path) -> Iterator[Server]:
    """Make a cluster of a major version, start its server, and make an empty database. Leaving stops it.

    Raises `NotDecided`.
    """
    programs = _find_programs(version)
    password = secrets.token_hex(16)
    data = folder / "data"
    _make_cluster(programs, folder, data, password)
    words = [word for name, value in _OPTIONS.items() for word in ("-c", f"{name}={value}")]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [str(programs / "postgres"), "-D", str(data), "-k", str(folder), *words],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
    try:
        _wait(programs, folder, process)
        server = Server(programs, folder, password)
        database = f"CREATE DATABASE {OWNER} OWNER {OWNER} TEMPLATE template0"
        server.administer(f"CREATE ROLE {OWNER} LOGIN NOSUPERUSER NOCREATEROLE", database)
        yield server
    finally:
        _stop(process)


def _find_programs(version: str) -> Path:
    if not re.fullmatch(r"\d{1,3}(\.\d)?", version):
        raise NotDecided(f"{version!r:.20} is no major version of PostgreSQL")
    for place in _PLACES:
        programs = Path(place.format(version=version))
        if (programs / "postgres").exists():
            return programs
    raise NotDecided(f"PostgreSQL {version} is not installed here: apt-get install postgresql-{version}")


def _make_cluster(programs: Path, folder: Path, data: Path, password: str) -> None:
    secret = folder / "password"
    secret.write_text(password)
    words = ["-D", str(data), "-U", ADMINISTRATOR, f"--pwfile={secret}", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
    done = _run([str(programs / "initdb"), *words, "--auth=scram-sha-256"], {})
    secret.unlink()
    if done.returncode:
        raise NotDecided(f"initdb failed: {' '.join(done.stderr.split())}")
    (data / "pg_hba.conf").write_text(_ACCESS)


def _wait(programs: Path, folder: Path, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_SECONDS
    ready = [str(programs / "pg_isready"), "-q", "-h", str(folder)]
    while subprocess.run(ready, check=False).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            said = " ".join((folder / "server.log").read_text(errors="replace").split())
            raise NotDecided(f"the server of the test did not start: {said[-500:]}")
        time.sleep(0.05)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _run(command: list[str], more: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | more
    return subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
