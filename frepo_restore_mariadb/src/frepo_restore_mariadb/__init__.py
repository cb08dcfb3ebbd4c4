"""Restore tests with MariaDB for frepo: a throw-away server in a box loads a dump."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from frepo_core.plugins import RestoredCopy, RestoreEngine, RestoreSource, hookimpl

__all__ = ["frepo_restore_engines"]


@hookimpl
def frepo_restore_engines() -> Sequence[RestoreEngine]:
    """Provide the engine `mariadb`, which is chosen with a major version: `mariadb:10.11`."""
    return [RestoreEngine(name="mariadb", label="MariaDB", restore=_restore, language="SQL", needs_version=True)]


@contextmanager
def _restore(source: RestoreSource) -> Iterator[RestoredCopy]:
    from .loading import restore_dump  # the service itself restores nothing

    with restore_dump(source) as copy:
        yield copy
