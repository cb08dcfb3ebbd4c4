"""Runs a program that leaves out one kind of sync: `python -m support.power.unsynced KIND PROGRAM ARGUMENT …`."""

import importlib
import os
import runpy
import sys
from collections.abc import Callable
from typing import Any


class _Without:
    """The module `os` without one function: it does nothing."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return _nothing if name == self._name else getattr(os, name)


def _nothing(*_: object) -> None:
    pass


def _without(module: str, name: str) -> Callable[[], None]:
    """Take a call of `os` out of a module, or a function of its own."""

    def patch() -> None:
        found = importlib.import_module(module)
        if hasattr(found, name):
            setattr(found, name, _nothing)
        else:
            found.os = _Without(name)  # type: ignore[attr-defined]

    return patch


def _leave_journal() -> None:
    from frepo_storage_local import backend

    store = backend.LocalStorage.store

    def store_unsynced(self: Any, key: str, *more: Any) -> None:
        is_of_journal = key.startswith(("journal/", "catalogue/"))
        backend.os = _Without("fsync") if is_of_journal else os  # type: ignore[attr-defined]
        store(self, key, *more)

    backend.LocalStorage.store = store_unsynced  # type: ignore[method-assign]


def _leave_database() -> None:
    from frepo_core.db import engine

    prepare = engine._prepare

    def prepare_unsynced(connection: Any) -> None:
        prepare(connection)
        connection.execute("PRAGMA synchronous = OFF")

    engine._prepare = prepare_unsynced


# What is left out, by the name of the kind.
KINDS: dict[str, Callable[[], None]] = {
    "bytes of a blob": _without("frepo_storage_local.backend", "fsync"),
    "bytes of a blob that is linked": _without("frepo_storage_local.linking", "fsync"),
    "name of a blob": _without("frepo_storage_local.backend", "_sync_folder"),
    "bytes of a part": _without("frepo_uploads.disk.part_file", "fdatasync"),
    "record of a part": _without("frepo_uploads.uploads", "fsync"),
    "name of a record": _without("frepo_uploads.uploads", "sync_folder"),
    "mark of the folder for parts": _without("frepo_uploads.disk.place", "fsync"),
    "secrets": _without("frepo_core.settings.secrets", "fsync"),
    "database": _leave_database,
    "journal": _leave_journal,
}


if __name__ == "__main__":
    kind, sys.argv = sys.argv[1], sys.argv[2:]
    KINDS[kind]()
    runpy.run_path(sys.argv[0], run_name="__main__")
