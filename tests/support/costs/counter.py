"""Counts what one piece of work does, in this process. What is counted is the same on every machine."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import Any
from unittest import mock

from sqlalchemy import Connection, Engine, event

from .relay import Relay

ROOT = Path(__file__).parents[3]
_WRITES = ("INSERT", "UPDATE", "DELETE")


@dataclass(kw_only=True)
class Cost:
    """What a piece of work does.

    `commits` are transactions that were committed, with those of a single statement that writes. `syncs` are calls of
    `fsync` and `fdatasync` by Python: those of a database come with its commits. `hops` are tasks that the thread of
    the request gives to another one, `calls` and `files` those of functions of our own packages, in all threads.
    `trips` are the times that the database's server is waited for; 0 on SQLite.
    """

    statements: int = 0
    commits: int = 0
    syncs: int = 0
    hops: int = 0
    calls: int = 0
    files: int = 0
    trips: int = 0

    def least(self, other: "Cost") -> "Cost":
        """Return the smaller of each number: once in a while, a cache is filled or a lease is renewed."""
        return Cost(**{one.name: min(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)})

    def as_dict(self) -> dict[str, int]:
        """Return the numbers by their names."""
        return asdict(self)


@dataclass
class Counter:
    """Counts in all threads that begin after it was made. Make it before the service."""

    cost: Cost | None = None
    texts: list[str] = field(default_factory=list)
    _files: set[str] = field(default_factory=set)
    _sources: dict[str, bool] = field(default_factory=dict)
    _thread: int = 0

    def __post_init__(self) -> None:
        threading.setprofile(self._note)

    def watch(self, engine: Engine) -> None:
        """Count the statements and commits of an engine."""
        event.listen(engine, "before_cursor_execute", self._note_statement)
        event.listen(engine, "commit", self._note_commit)

    def unwatch(self, engine: Engine) -> None:
        """Count them no more: SQLite's driver gets the statements of uploads by itself only if nobody listens."""
        event.remove(engine, "before_cursor_execute", self._note_statement)
        event.remove(engine, "commit", self._note_commit)

    def count(self, work: Callable[[], object], relay: Relay | None = None) -> Cost:
        """Return what the work does."""
        self._files, self.texts, self._thread, cost = set(), [], threading.get_ident(), Cost()
        trips = relay.trips if relay else 0
        with self._counted_syncs(cost):
            self.cost = cost
            sys.setprofile(self._note)
            try:
                work()
            finally:
                sys.setprofile(None)
                self.cost = None
        cost.files, cost.trips = len(self._files), relay.trips - trips if relay else 0
        return cost

    @contextmanager
    def _counted_syncs(self, cost: Cost) -> Iterator[None]:
        def counted(function: Callable[[int], None]) -> Callable[[int], None]:
            def sync(descriptor: int) -> None:
                cost.syncs += 1
                function(descriptor)

            return sync

        with (
            mock.patch.object(os, "fsync", counted(os.fsync)),
            mock.patch.object(os, "fdatasync", counted(os.fdatasync)),
        ):
            yield

    def _note(self, frame: FrameType, what: str, argument: Any) -> None:
        cost = self.cost
        if cost is None:
            return
        if what == "call":
            name = frame.f_code.co_filename
            if self._is_own(name):
                cost.calls += 1
                self._files.add(name)
        elif what == "c_call" and threading.get_ident() == self._thread and _is_task(argument):
            cost.hops += 1

    def _is_own(self, name: str) -> bool:
        known = self._sources.get(name)
        if known is None:
            path = Path(name)
            known = self._sources[name] = path.is_relative_to(ROOT) and "src" in path.parts
        return known

    def _note_statement(
        self, connection: Connection, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        if self.cost is None:
            return
        self.cost.statements += 1
        self.texts.append(statement)
        if _commits_each(connection) and statement.lstrip().startswith(_WRITES):
            self.cost.commits += 1

    def _note_commit(self, connection: Connection) -> None:
        if self.cost is not None and not _commits_each(connection):
            self.cost.commits += 1


def _commits_each(connection: Connection) -> bool:
    """Return whether each statement is a transaction of its own."""
    options = connection.get_execution_options()
    return options.get("sqlite_begin") == "" or options.get("isolation_level") == "AUTOCOMMIT"


def _is_task(function: Any) -> bool:
    """Return whether a function of C gives a task to another thread, or starts one."""
    owner = getattr(function, "__self__", None)
    return (isinstance(owner, SimpleQueue) and function.__name__ == "put") or (function.__name__ == "start_new_thread")
