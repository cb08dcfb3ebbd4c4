"""Restore tests: a version is read into a command of the operator, which says whether it can be restored."""

from .restore_tests import RestoreCounts, RestoreFailedError, RestoreTests
from .results import RestoreResult

__all__ = ["RestoreCounts", "RestoreFailedError", "RestoreResult", "RestoreTests"]
