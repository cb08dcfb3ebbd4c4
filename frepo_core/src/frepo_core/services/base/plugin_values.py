"""The values that plug-ins keep under keys, in the session of a transaction."""

import json
import random
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import PluginValue
from frepo_core.errors import StoreConflictError
from frepo_core.plugins import StoredValue

MAX_KEY = 200
# JavaScript, too, can represent each of these numbers.
_BITS = 53
# No key contains a greater character.
_LAST = "\U0010ffff"


class PluginValues:
    """The values of one plug-in. They are locked when they are changed."""

    def __init__(self, session: Session, plugin: str) -> None:
        self._session = session
        self._plugin = plugin

    def get(self, key: str) -> StoredValue | None:
        """See `Values.get`."""
        row = self._session.get(PluginValue, (self._plugin, key))
        return _value(row) if row else None

    def put(self, key: str, value: Any, *, if_version: int | None = None) -> int:
        """See `Values.put`."""
        if not 1 <= len(key) <= MAX_KEY:
            raise ValueError(f"a key has 1 to {MAX_KEY} characters, not {len(key)}")
        try:
            value = json.loads(json.dumps(value, allow_nan=False))
        except TypeError as error:
            raise ValueError(f"the value under {key!r} is not JSON: {error}") from error
        row = self._locked(key, if_version)
        if row is None:
            row = PluginValue(plugin=self._plugin, key=key)
            self._session.add(row)
        row.value, row.changed_at = value, utc_now()
        # Not a count: a value that was deleted and made again must not have an earlier version.
        row.version = random.getrandbits(_BITS) | 1
        self._session.flush()
        return row.version

    def delete(self, key: str, *, if_version: int | None = None) -> bool:
        """See `Values.delete`."""
        row = self._locked(key, if_version)
        if row is not None:
            self._session.delete(row)
            self._session.flush()
        return row is not None

    def items(self, prefix: str = "", *, after: str | None = None, limit: int = 100) -> Sequence[StoredValue]:
        """See `Values.items`."""
        query = select(PluginValue).where(PluginValue.plugin == self._plugin, PluginValue.key >= prefix)
        if prefix:
            query = query.where(PluginValue.key < prefix + _LAST)
        if after is not None:
            query = query.where(PluginValue.key > after)
        return [_value(row) for row in self._session.scalars(query.order_by(PluginValue.key).limit(limit))]

    def _locked(self, key: str, if_version: int | None) -> PluginValue | None:
        query = select(PluginValue).where(PluginValue.plugin == self._plugin, PluginValue.key == key)
        row = self._session.scalar(query.with_for_update())
        if if_version is not None and if_version != (row.version if row else 0):
            raise StoreConflictError(f"The value under {key!r} was changed meanwhile")
        return row


def _value(row: PluginValue) -> StoredValue:
    return StoredValue(key=row.key, value=row.value, version=row.version, changed_at=row.changed_at)
