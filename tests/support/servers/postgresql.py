"""PostgreSQL as a child process in a temporary folder."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from support.servers.processes import folder_of, free_port, run_as, running_process

_BIN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
MISSING = None if _BIN else "postgresql is not installed: make services"
OWNER = "postgres"
PASSWORD = "postgresql 5ecre7"


@contextlib.contextmanager
def postgresql(*, durable: bool = False, address: str = "127.0.0.1") -> Iterator[str]:
    """Start a server at an address; yield the URL of its database `postgres`, without the driver's part."""
    programs = _BIN[-1]
    with folder_of(OWNER) as folder:
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        data = folder / "data"
        subprocess.run(
            [programs / "initdb", "-D", data, "-U", OWNER, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8"]
            + ["--no-sync", f"--pwfile={folder / 'password'}"],
            check=True,
            cwd=folder,
            capture_output=True,
            **run_as(OWNER),
        )
        with (data / "pg_hba.conf").open("a") as access:
            access.write(f"host all all {address}/24 scram-sha-256\n")
        port = free_port()
        command = [str(programs / "postgres"), "-D", str(data), "-p", str(port), "-k", str(folder)]
        command += ["-c", f"listen_addresses={address}", "-c", "max_connections=200"]
        if not durable:
            command += ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off"]

        def answers() -> bool:
            """Return whether this server answers; `pg_isready` would accept that of another worker at the same port."""
            try:
                return (data / "postmaster.pid").read_text().rstrip().endswith("ready")
            except FileNotFoundError:  # not yet, or no more: it failed
                return False

        with running_process(command, folder, answers, stop=signal.SIGINT, **run_as(OWNER)):
            yield f"postgresql://{OWNER}:{PASSWORD.replace(' ', '%20')}@{address}:{port}/postgres"
