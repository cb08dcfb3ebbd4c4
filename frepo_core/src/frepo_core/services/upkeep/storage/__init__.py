"""Maintenance of the storage: the use cases behind the `storage:` commands. The service keeps running meanwhile."""

from ...content.storages.owner_mark import OwnerMark, find_marks
from ...content.storages.sweep_guard import Ownership, StorageDisputedError
from .adoption import Comparison, compare
from .progress import Progress
from .sweep import SweepPlan, SweepReport, check_grace, sweep
from .verify import VerifyOptions, VerifyReport, verify, verify_copies

__all__ = [
    "Comparison",
    "OwnerMark",
    "Ownership",
    "Progress",
    "StorageDisputedError",
    "SweepPlan",
    "SweepReport",
    "VerifyOptions",
    "VerifyReport",
    "check_grace",
    "compare",
    "find_marks",
    "sweep",
    "verify",
    "verify_copies",
]
