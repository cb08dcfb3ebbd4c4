"""What a plug-in keeps in the database: values under keys, and tables of its own."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from frepo_core.domain.identity import Identity

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class StoredValue:
    """A value under a key. `version` is another number after each change; `changed_at` is in UTC (aware)."""

    key: str
    value: Any
    version: int
    changed_at: datetime


class Values(Protocol):
    """Values under keys of at most 200 characters. A value is JSON. Plug-ins do not see each other's."""

    def get(self, key: str) -> StoredValue | None:
        """Return the value; None if there is none."""

    def put(self, key: str, value: Any, *, if_version: int | None = None) -> int:
        """Keep a value, and return its version.

        With `if_version`, it must still have that version; 0 means that there must be none. Raises
        `StoreConflictError` otherwise, and `ValueError` for a value that is not JSON or a key that is too long.
        """

    def delete(self, key: str, *, if_version: int | None = None) -> bool:
        """Delete a value; return whether there was one. `if_version` as for `put`."""

    def items(self, prefix: str = "", *, after: str | None = None, limit: int = 100) -> Sequence[StoredValue]:
        """Return up to `limit` values whose keys begin with `prefix`, by key; only those after the key `after`."""


class StoreTransaction(Values, Protocol):
    """A transaction of a plug-in."""

    @property
    def session(self) -> Any:
        """The SQLAlchemy session, for the plug-in's own models only. Do not commit it."""

    def record_event(
        self,
        kind: str,
        *,
        by: Identity | None = None,
        collection_id: str | None = None,
        version_number: int | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Record an event of one of the plug-in's own kinds: it is committed with this transaction, or not at all.

        `by` is None for the plug-in itself: the actor is `system:<entry point>` then. Raises `ValueError` for a kind or
        a key in `data` that `frepo_event_kinds` does not declare.
        """


class Store(Values, Protocol):
    """The plug-in's part of the database. Each method is a transaction of its own."""

    def transaction(self, work: Callable[[StoreTransaction], Result]) -> Result:
        """Call `work` with a transaction, commit, and return what it returns. What it raises rolls back.

        After a conflict with another writer, and if the connection broke before the commit, `work` is called again: it
        must make its models itself, and have no other effects. Transactions have time limits, and on SQLite one writes
        at a time: keep them short, and transfer nothing meanwhile. Raises `DatabaseUnavailableError` or `StorageFull`.
        """

    def reading(self) -> AbstractContextManager[Any]:
        """Open a SQLAlchemy session for reading the plug-in's own tables: `with store.reading() as session:`."""
