"""The system under a soak: two processes of the service with one database and one storage that sometimes fails."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.reliability.faulty import ENVIRONMENT, faulty_ini, order
from support.servers import postgresql
from support.servers.service import ROOT, Service

CHANNEL_TIMEOUT = 10
FAULTS = [
    {"method": "store", "kind": "fail", "chance": 0.01},
    {"method": "store", "kind": "truncate", "after": 3, "chance": 0.01},
    {"method": "store", "kind": "trailer", "chance": 0.01},
    {"method": "store", "kind": "stall", "seconds": 1.5, "chance": 0.005},
    {"method": "stat", "kind": "fail", "chance": 0.005},
    {"method": "open", "kind": "fail", "chance": 0.01},
    {"method": "delete", "kind": "fail", "chance": 0.02},
]


@dataclass(frozen=True, kw_only=True)
class Site:
    """`steady` runs during the whole soak and is measured; `restarted` is killed and restarted."""

    steady: Service
    restarted: Service
    folder: Path
    database_url: str

    def disk(self) -> int:
        """Return the size of the storage and of both processes' temporary files."""
        size = 0
        for path in [self.folder / "storage", self.steady.temporary, self.restarted.temporary]:
            for folder, _, names in os.walk(path):
                for name in names:
                    with contextlib.suppress(FileNotFoundError):
                        size += os.stat(os.path.join(folder, name)).st_size
        return size


@contextlib.contextmanager
def running_site(folder: Path) -> Iterator[Site]:
    """Start both, on PostgreSQL where it is installed, else on SQLite."""
    with contextlib.ExitStack() as stack:
        url = f"sqlite:///{folder}/frepo.db"
        if not postgresql.MISSING:
            url = stack.enter_context(postgresql.postgresql())
        ini = faulty_ini(folder / "soak.ini", channel_timeout=CHANNEL_TIMEOUT, cleanup_interval=5)
        order(folder / "faults.json", *FAULTS)
        shared = {
            "DATABASE_URL": url,
            "FS_LOCAL_DIRECTORY": str(folder / "storage"),
            "APP_SECRETS_FILE": str(folder / "secrets.json"),
            "PYTHONPATH": str(ROOT / "tests"),  # the faulty storage
            ENVIRONMENT: str(folder / "faults.json"),
        }
        services = []
        for name in ("steady", "restarted"):
            (folder / name).mkdir()
            service = Service(folder / name, shared, ini=ini)
            service.start()
            stack.callback(service.stop)
            services.append(service)
        steady, restarted = services
        restarted._admin = steady.admin
        yield Site(steady=steady, restarted=restarted, folder=folder, database_url=url)
