"""Asks strategies of plug-ins outside of transactions, with a deadline, and keeps their answers until they are used.

A write transaction uses an answer only if nothing changed since the strategy was asked. It calls no plug-in, so a
strategy that is slow or hangs holds no lock.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TypeAlias, TypeVar

from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.domain.structs import struct
from frepo_core.errors import StrategyHangsError
from frepo_core.plugins import CollectionState, IncomingVersion, VersionInfo
from frepo_core.plugins.registry import PluginRegistry

from ...base.plugin_deadlines import PluginHangs, PluginThreads
from ...base.records import CollectionRecord
from ..rows.collection_rows import read_collection
from .decision import RotationState, choose
from .evictable_versions import LazyVersions, read_state
from .strategy_answers import call_strategy, described

Result = TypeVar("Result")

DEADLINE = 2.0  # seconds for one call

# Makes the incoming version from the collection as it is now; None if the strategy need not be asked.
MakeIncoming: TypeAlias = Callable[[Session, CollectionRecord], IncomingVersion | None]


TURN_SECONDS = 2.0


class Turns:
    """A lock for each collection in use. It saves work and protects nothing: after a while, nobody waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def take(self, collection_id: str) -> Iterator[None]:
        """Wait for the turn, at most for some seconds."""
        with self._lock:
            lock, users = self._locks.get(collection_id, (threading.Lock(), 0))
            self._locks[collection_id] = lock, users + 1
        has_turn = lock.acquire(timeout=TURN_SECONDS)
        try:
            yield
        finally:
            if has_turn:
                lock.release()
            with self._lock:
                lock, users = self._locks.pop(collection_id)
                if users > 1:
                    self._locks[collection_id] = lock, users - 1


@struct
class StrategyAnswer:
    """What leaves for the incoming version, by its strategy; `error` if it refused, failed or hung.

    `collection` and `state` are what it saw, `at` is the time of the question.
    """

    collection: CollectionRecord
    state: RotationState
    at: datetime
    incoming: IncomingVersion
    evicted: Sequence[VersionInfo] = ()
    error: Exception | None = None

    def get(self) -> list[VersionInfo]:
        """Return the evicted versions, or raise what the question has raised."""
        if self.error is not None:
            raise self.error
        return list(self.evicted)

    def is_about(self, collection: CollectionRecord, state: RotationState) -> bool:
        """Return whether the collection is as the strategy saw it."""
        return _basis_of(self.collection, self.state) == _basis_of(collection, state)


def _basis_of(collection: CollectionRecord, state: RotationState) -> tuple[object, ...]:
    """Return what a strategy sees of a collection, without its versions: each change of these changes a counter."""
    return (
        collection.created_at,
        collection.limits,
        collection.strategy,
        collection.strategy_options,
        collection.labels,
        collection.guards,
        collection.last_number,
        collection.versions_count,
        collection.stored_size,
        collection.pinned_count,
        collection.pinned_size,
        collection.quarantined_count,
        collection.quarantined_size,
        collection.pending_count,
        collection.pending_size,
        collection.restored_until,
        collection.failed_since,
        collection.hold,
        state.pinned_count,
        state.pinned_size,
        state.spared,
    )


class Strategies:
    """The strategies of the installed plug-ins, each with its threads."""

    def __init__(self, database: Database, plugins: PluginRegistry) -> None:
        self._database = database
        self.plugins = plugins
        self._threads = {name: PluginThreads(f"strategy {name}", DEADLINE) for name in plugins.strategies}
        self.turns = Turns()

    def ask(
        self,
        collection_id: str,
        make_incoming: MakeIncoming,
        plan: Callable[[CollectionRecord], CollectionRecord] = lambda current: current,
        *,
        spares_good: bool = False,
        version_id: str = "",
    ) -> StrategyAnswer | None:
        """Ask a collection's strategy about an incoming version. Raises `FieldsError` if the collection is deleted.

        `plan` returns the collection as it will be, or raises why it cannot be. `spares_good` and
        `version_id` are as for `read_state`.
        """
        now = utc_now()
        with self._database.reading() as session:
            collection = plan(read_collection(session, collection_id))
            incoming = make_incoming(session, collection)
            if incoming is None:
                return None
            reading = self._database.reading
            state = read_state(
                session,
                self.plugins,
                collection,
                now=now,
                reading=reading,
                spares_good=spares_good,
                version_id=version_id,
            )
        return self.ask_about(collection, state, incoming, at=now)

    def ask_about(
        self, collection: CollectionRecord, state: RotationState, incoming: IncomingVersion, *, at: datetime
    ) -> StrategyAnswer:
        """Ask about a state that was read at this time. What the strategy raises is in the answer."""
        evicted: Sequence[VersionInfo] = ()
        error: Exception | None = None
        try:
            evicted = self._call(state, incoming)
        except Exception as raised:  # noqa: BLE001  # raised where the answer is used
            error = raised
        return StrategyAnswer(
            collection=collection, state=state, at=at, incoming=incoming, evicted=evicted, error=error
        )

    def _call(self, state: RotationState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        name, versions = state.strategy, state.versions

        def call(visible: CollectionState) -> Sequence[VersionInfo]:
            return self.guard(
                name,
                lambda: call_strategy(
                    self.plugins, name, described(visible, state.record), incoming, collection_id=state.collection_id
                ),
                is_excused=lambda: isinstance(versions, LazyVersions) and versions.is_loading,
            )

        return choose(state, incoming, call)

    def guard(
        self,
        strategy: str,
        function: Callable[[], Result],
        *,
        is_excused: Callable[[], bool] = lambda: False,
        seconds: float = 0.0,
    ) -> Result:
        """Return what a function returns that calls this strategy. Raises `StrategyHangsError` after the deadline.

        `seconds` is another deadline than that of one call.
        """
        if strategy not in self._threads:
            return function()  # raises that it is not installed
        try:
            return self._threads[strategy].call(function, is_excused=is_excused, seconds=seconds)
        except PluginHangs as hangs:
            origin = self.plugins.strategy_origin(strategy)
            raise StrategyHangsError(
                f"{origin[0].upper()}{origin[1:]} {hangs}. Fix the package and restart the service, or choose another "
                "strategy for the collection"
            ) from None
