"""The row of a new collection: which values it may have, and which ones it gets by default."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from frepo_core.db import utc_now
from frepo_core.db.models import Collection
from frepo_core.domain.backups.groups import check_group
from frepo_core.domain.backups.guard_values import field_of
from frepo_core.domain.backups.guards import Guards
from frepo_core.domain.backups.locks import NONE, check_length
from frepo_core.domain.identity import new_uuid4
from frepo_core.domain.limits import Limits, check_limits
from frepo_core.plugins.registry import PluginRegistry

from ...access.passwords import Passwords
from ...content.storages.storage_choice import StorageChoice
from ..rotation.strategy_options import check_options
from ..rows.collection_change import CollectionChange
from ..rows.collection_rows import set_guards
from ..rows.expected_backups import set_expectation
from ..rows.trash_keep import parse_trash_keep
from .collection_permissions import apply_all, new_id
from .planned_change import check_strategy

NO_GUARDS = Guards()
DEFAULT_STRATEGY = "delete_oldest_when_adding_new"


class NewCollections:
    """Makes the rows of new collections."""

    def __init__(
        self,
        plugins: PluginRegistry,
        passwords: Passwords,
        storages: StorageChoice,
        ceilings: Limits,
        longest_lock: timedelta,
        trash_keep: timedelta,
    ) -> None:
        self._plugins = plugins
        self._passwords = passwords
        self._storages = storages
        self._ceilings = ceilings
        self._longest_lock = longest_lock
        self._trash_keep = trash_keep

    def row(self, change: CollectionChange, default_guards: Guards = NO_GUARDS) -> Collection:
        """Check the values and return the row, which is in no session yet. Raises `FieldsError` or `RuleError`."""
        check_strategy(self._plugins, change.strategy)
        check_length(change.locked or NONE, NONE, longest=self._longest_lock)
        strategy = change.strategy or DEFAULT_STRATEGY
        limits = replace(self._ceilings, **change.limits)
        apply_all(
            lambda: check_limits(limits, ceilings=self._ceilings, requested=change.limits),
            lambda: check_options(self._plugins, strategy, change.strategy_options),
            lambda: self._storages.check(change.storage),
            lambda: self._storages.check_mirror(change.mirror, change.storage),
            lambda: check_group(change.compact_group),
            lambda: parse_trash_keep(change.trash_keep, self._trash_keep),
        )
        row = Collection(
            id=new_id(change.id),
            max_backups_count=limits.versions,
            max_one_version_size=limits.version_size,
            max_collection_size=limits.total_size,
            strategy=strategy,
            strategy_options=check_options(self._plugins, strategy, change.strategy_options),
            description=change.description or "",
            filename=change.filename,
            password_hash=self._passwords.hash(change.password or ""),
            created_at=utc_now(),
            incarnation=new_uuid4(),
            last_number=0,
            versions_count=0,
            stored_size=0,
            pinned_count=0,
            pinned_size=0,
            quarantined_count=0,
            quarantined_size=0,
            quarantine_nights=0,
            pending_count=0,
            pending_size=0,
            storage=change.storage or None,
            mirror=change.mirror or None,
            compact_group=change.compact_group or None,
            trash_keep=parse_trash_keep(change.trash_keep, self._trash_keep),
            locked=int((change.locked or NONE).total_seconds()),
            fleet_key=change.fleet_key,
        )
        set_guards(row, replace(default_guards, **{**self._guards_of(strategy), **change.guards}))
        set_expectation(row, change, now=utc_now())
        return row

    def _guards_of(self, strategy: str) -> Mapping[str, Any]:
        """Return the guards that a strategy gives its collections, by the names of the fields of `Guards`."""
        spec = self._plugins.strategies.get(strategy)
        return {field_of(name): value for name, value in spec.guards.chosen().items()} if spec and spec.guards else {}
