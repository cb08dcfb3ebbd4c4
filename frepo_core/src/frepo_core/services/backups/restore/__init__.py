"""Restore tests: a version is read into a command of the operator, which says whether it can be restored."""

from .nightly_tests import NightlyTests, RestoreFailedError
from .restore_ages import RestoreAges, RestoreCounts, UntestedCollections
from .restore_tests import RestoreTests

__all__ = ["NightlyTests", "RestoreAges", "RestoreCounts", "RestoreFailedError", "RestoreTests", "UntestedCollections"]
