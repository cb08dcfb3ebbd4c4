"""The plug-in's part of the database: it implements `frepo_core.plugins.Store`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy.orm import Session

from frepo_core.domain.identity import Actor, Identity
from frepo_core.errors import ReadOnlyError
from frepo_core.plugins import PluginEventKind, StoredValue, StoreTransaction

from ...base.plugin_values import PluginValues
from ...events.recording import NewEvent, record

if TYPE_CHECKING:
    from ...base.plugin_rows import RowCopies
    from ..core_services import CoreServices

Result = TypeVar("Result")


class _Transaction(PluginValues):
    """A transaction of a plug-in, see `StoreTransaction`."""

    def __init__(
        self, session: Session, plugin: str, kinds: Mapping[str, PluginEventKind], copies: "RowCopies | None"
    ) -> None:
        super().__init__(session, plugin)
        if copies is not None:
            copies.watch(session)
        self.session = session
        self._kinds = kinds

    def record_event(
        self,
        kind: str,
        *,
        by: Identity | None = None,
        collection_id: str | None = None,
        version_number: int | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        if kind not in self._kinds:
            raise ValueError(f"{kind!r} is none of the kinds of events that frepo_event_kinds of this plug-in declares")
        event = NewEvent(
            kind=self._kinds[kind],
            by=by or Actor(name=f"system:{self._plugin}"),
            collection_id=collection_id,
            version_number=version_number,
            data=dict(data or {}),
        )
        record(self.session, event)


class PluginStore:
    """The part of one plug-in."""

    def __init__(self, services: "CoreServices", plugin: str) -> None:
        self._services = services
        self._plugin = plugin
        self._kinds = {
            name: owned.spec for name, owned in services.plugins.event_kinds.items() if owned.plugin.name == plugin
        }

    def get(self, key: str) -> StoredValue | None:
        with self.reading() as session:
            return PluginValues(session, self._plugin).get(key)

    def put(self, key: str, value: Any, *, if_version: int | None = None) -> int:
        return self.transaction(lambda transaction: transaction.put(key, value, if_version=if_version))

    def delete(self, key: str, *, if_version: int | None = None) -> bool:
        return self.transaction(lambda transaction: transaction.delete(key, if_version=if_version))

    def items(self, prefix: str = "", *, after: str | None = None, limit: int = 100) -> Sequence[StoredValue]:
        with self.reading() as session:
            return PluginValues(session, self._plugin).items(prefix, after=after, limit=limit)

    def transaction(self, work: Callable[[StoreTransaction], Result]) -> Result:
        if self._services.settings.read_only:
            raise ReadOnlyError("The service is in read-only mode, so a plug-in cannot keep anything now")
        copies = self._services.row_copies.get(self._plugin)
        return self._services.database.write(
            lambda session: work(_Transaction(session, self._plugin, self._kinds, copies))
        )

    def reading(self) -> AbstractContextManager[Session]:
        return self._services.database.reading()
