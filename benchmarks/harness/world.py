"""The environment of a measurement: frepo as a separate process, and temporary folders."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from frepo_core.db import make_engine
from frepo_core.services.upkeep.storage import OwnerMark
from support.servers.service import Service

HUGE = {"BACKUP_ONE_VERSION_MAX_SIZE": "0", "BACKUP_COLLECTION_MAX_SIZE": "0"}


@contextlib.contextmanager
def folder(parent: Path | None = None) -> Iterator[Path]:
    """Create a temporary folder in `parent`, or in TMPDIR by default; the run measures the disk of that folder."""
    with tempfile.TemporaryDirectory(prefix="frepo-bench-", dir=parent) as name:
        yield Path(name)


@contextlib.contextmanager
def frepo(where: Path, ini: Path | None = None, /, **environment: str) -> Iterator[Service]:
    """Run the service of development.ini or of another file, logging warnings only, with an administrator's token."""
    where.mkdir(exist_ok=True)
    service = Service(where, HUGE | environment)
    quiet = where / "quiet.ini"
    text = (ini or service.ini).read_text().replace("%(here)s", str(where)).replace("level = INFO", "level = WARNING")
    quiet.write_text(text)
    service.ini = quiet
    service.start()
    try:
        service.admin  # noqa: B018  # made now, not in the middle of a measurement
        yield service
    finally:
        service.stop()


@contextlib.contextmanager
def two_processes(where: Path, **environment: str) -> Iterator[list[Service]]:
    """Run two services on the same state."""
    with frepo(where, **environment) as first:
        second = Service(first.folder, first.environment, ini=first.ini)
        second.start()
        try:
            yield [first, second]
        finally:
            second.stop()


def headers(service: Service) -> dict[str, str]:
    """Return the headers of an administrator's requests."""
    return {"X-Auth-Token": service.admin, "Content-Type": "application/octet-stream"}


def forget(service: Service) -> None:
    """Delete all stored bytes. Their rows remain, which does not affect any measurement.

    The mark of the database stays: nothing is written to a storage without it.
    """
    for path in service.storage.glob("*/*"):
        if not OwnerMark.parse(path.relative_to(service.storage).as_posix()):
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def database(service: Service) -> Iterator[object]:
    """Yield an engine on the service's database, to fill it."""
    engine = make_engine(service.environment["DATABASE_URL"])
    yield engine
    engine.dispose()
