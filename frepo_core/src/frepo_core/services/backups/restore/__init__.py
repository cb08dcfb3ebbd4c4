"""Restore tests: a version is read into a command of the operator, which says whether it can be restored."""

from .restore_tests import RestoreCounts, RestoreFailedError, RestoreResult, RestoreTests

__all__ = ["RestoreCounts", "RestoreFailedError", "RestoreResult", "RestoreTests"]
