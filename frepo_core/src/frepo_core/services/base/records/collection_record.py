"""The record of a collection."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, get_args

from sqlalchemy import Row

from frepo_core.db.models import Collection
from frepo_core.domain.backups.baseline import Baseline
from frepo_core.domain.backups.guards import GuardAction, Guards
from frepo_core.domain.backups.holds import Hold
from frepo_core.domain.backups.runs import LastRun
from frepo_core.domain.limits import Limits
from frepo_core.plugins import CollectionInfo
from frepo_core.plugins import Guards as PluginGuards

GUARD_NAMES = {"action": "on_suspicious"}
# The column has `keep` for `mark`.
_NEVER = timedelta()
_ACTIONS: dict[str, GuardAction] = {action: action for action in get_args(GuardAction)} | {"keep": "mark"}


@dataclass(frozen=True, kw_only=True)
class CollectionRecord:
    """A collection, its limits and its counters (bytes, versions). Times are UTC (aware).

    `versions_count` and `stored_size` include pinned versions, but neither those in quarantine nor pending ones, for
    which rotation waits. `baseline` is what guards compare new versions with.

    `grace` is the one that was set, None for the default. `due_at` and `overdue_at` are None if no backups are
    expected. `storage` is where its versions are stored, None: in the first storage. `mirror` is the storage with their
    second copies, None: that of the service, `none`: they have none. The last restore test was at `restore_tried_at`,
    the last good one at `restore_tested_at`. While there is a `hold`, nothing leaves the collection.
    """

    id: str
    limits: Limits
    strategy: str
    description: str
    filename: str
    created_at: datetime
    last_number: int
    versions_count: int
    stored_size: int
    guards: Guards
    strategy_options: Mapping[str, Any] | None = None
    password_hash: str | None = field(default=None, repr=False)
    created_by: str | None = None
    labels: tuple[str, ...] = ()
    locked: timedelta = timedelta()
    expected_every: str | None = None
    grace: timedelta | None = None
    arrived_at: datetime | None = None
    due_at: datetime | None = None
    overdue_at: datetime | None = None
    restored_until: datetime | None = None
    pinned_count: int = 0
    pinned_size: int = 0
    quarantined_count: int = 0
    quarantined_size: int = 0
    baseline: Mapping[str, Any] | None = None
    pending_count: int = 0
    pending_size: int = 0
    failed_since: datetime | None = None
    failed_reason: str | None = None
    restore_tested_at: datetime | None = None
    restore_tried_at: datetime | None = None
    restore_outcome: str | None = None
    last_run: LastRun | None = None
    storage: str | None = None
    mirror: str | None = None
    compact_group: str | None = None
    problems: Mapping[str, Mapping[str, Any]] | None = None
    trash_keep: timedelta | None = None
    hold: Hold | None = None
    fleet_key: str | None = None

    @property
    def limits_in_force(self) -> Limits:
        """The limits that count now: on hold, the number of versions has none."""
        return self.limits if self.hold is None else replace(self.limits, versions=0)

    @property
    def unchanged_nights(self) -> int:
        """On how many later days the content of the newest version has arrived again."""
        return Baseline.load(self.baseline).unchanged_nights

    @property
    def compressed_by_sender(self) -> str | None:
        """The compression of the newest good content, as checks name it; None for none, or if no check knows it.

        Such a content is stored as it is: it cannot be compacted.
        """
        contents = Baseline.load(self.baseline).contents
        return (contents[-1].compression or None) if contents else None

    @classmethod
    def of(cls, row: Collection | Row[Any]) -> "CollectionRecord":
        """Make a record of a row, of the model or of its table."""
        return cls(
            id=row.id,
            limits=Limits(
                versions=row.max_backups_count,
                version_size=row.max_one_version_size,
                total_size=row.max_collection_size,
            ),
            strategy=row.strategy,
            description=row.description,
            filename=row.filename,
            created_at=row.created_at,
            last_number=row.last_number,
            versions_count=row.versions_count,
            stored_size=row.stored_size,
            guards=_guards_of(row),
            strategy_options=row.strategy_options,
            password_hash=row.password_hash,
            created_by=row.created_by,
            labels=tuple(row.labels or ()),
            locked=timedelta(seconds=row.locked or 0),
            expected_every=row.expected_every,
            grace=None if row.grace is None else timedelta(seconds=row.grace),
            arrived_at=row.arrived_at,
            due_at=row.due_at,
            overdue_at=row.overdue_at,
            restored_until=row.restored_until,
            pinned_count=row.pinned_count,
            pinned_size=row.pinned_size,
            quarantined_count=row.quarantined_count,
            quarantined_size=row.quarantined_size,
            baseline=row.baseline,
            pending_count=row.pending_count,
            pending_size=row.pending_size,
            failed_since=row.failed_since,
            failed_reason=row.failed_reason,
            restore_tested_at=row.restore_tested_at,
            restore_tried_at=row.restore_tried_at,
            restore_outcome=row.restore_outcome,
            last_run=LastRun.of(row.last_run_outcome, row.last_run_at, row.last_run_reason)
            if row.last_run_at
            else None,
            storage=row.storage,
            mirror=row.mirror,
            compact_group=row.compact_group,
            problems=row.problems,
            trash_keep=None if row.trash_keep is None else timedelta(seconds=row.trash_keep),
            hold=None if row.held_since is None else hold_of(row),
            fleet_key=row.fleet_key,
        )


def hold_of(row: Collection | Row[Any]) -> Hold | None:
    """Return the hold of a collection's row; None if there is none."""
    if row.held_since is None:
        return None
    return Hold(since=row.held_since, by=row.held_by or "", reason=row.hold_reason or "")


def _guards_of(row: Collection | Row[Any]) -> Guards:
    return Guards(
        min_retention=timedelta(seconds=row.min_retention),
        min_version_size=row.min_version_size,
        max_shrink_percent=row.max_shrink_percent,
        max_growth_percent=row.max_growth_percent or 0,
        max_decline_percent=row.max_decline_percent or 0,
        expects_kind=bool(row.expects_kind),
        expects_change=bool(row.expects_change),
        max_unchanged=timedelta(seconds=row.max_unchanged) if row.max_unchanged else _NEVER,
        action=_ACTIONS.get(row.guard_action, "refuse"),
    )


def plugin_guards(guards: Guards) -> PluginGuards:
    """Return the guards as plug-ins see them."""
    return PluginGuards(**{GUARD_NAMES.get(name, name): value for name, value in vars(guards).items()})


def collection_info(record: CollectionRecord) -> CollectionInfo:
    """Return the collection as plug-ins see it."""
    return CollectionInfo(
        id=record.id,
        name=record.filename,
        description=record.description,
        labels=record.labels,
        strategy=record.strategy,
        strategy_options=record.strategy_options or {},
    )
