"""Maintenance of the storage: the use cases behind the `storage:` commands. The service keeps running meanwhile."""

from .index import IndexReport, read_index
from .migrate import MigrationReport, Migrator
from .progress import Progress
from .sweep import SweepReport, check_grace, sweep
from .verify import VerifyReport, verify

__all__ = [
    "IndexReport",
    "MigrationReport",
    "Migrator",
    "Progress",
    "SweepReport",
    "VerifyReport",
    "check_grace",
    "read_index",
    "sweep",
    "verify",
]
