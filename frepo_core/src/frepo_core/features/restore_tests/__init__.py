"""Restore tests: versions are streamed into a command, which says whether they can be restored."""
