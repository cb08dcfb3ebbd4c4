"""Restore tests: a version is read into a command of the operator, which says whether it can be restored."""
