"""Records: the frozen dataclasses that services return instead of database rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, get_args

from sqlalchemy import select

from frepo_core.db.models import Blob, Collection, File, Version
from frepo_core.domain.backups.baseline import Baseline
from frepo_core.domain.backups.guards import GuardAction, Guards
from frepo_core.domain.backups.runs import LastRun
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.limits import Limits
from frepo_core.plugins import CollectionInfo

from .copy_count import CopyCount

_FILE, _BLOB = File.__table__, Blob.__table__
# The column has `keep` for `mark`.
_ACTIONS: dict[str, GuardAction] = {action: action for action in get_args(GuardAction)} | {"keep": "mark"}
# For downloads and listings. A query on tables costs half as much as one on models through a session. Only columns
# that records need are selected: converting one time costs as much as three texts.
WITH_BLOB = select(
    _FILE.c.id,
    _FILE.c.stored_name,
    _FILE.c.requested_name,
    _FILE.c.public,
    _FILE.c.kind,
    _FILE.c.created_at,
    _FILE.c.password_hash,
    _BLOB.c.id.label("blob_id"),
    _BLOB.c.digest,
    _BLOB.c.size,
    _BLOB.c.mime,
    _BLOB.c.storage,
    _BLOB.c.key,
    _BLOB.c.checksum,
    _BLOB.c.damaged_at.is_not(None).label("is_damaged"),
).join(_BLOB, _BLOB.c.id == _FILE.c.blob_id)


@dataclass(frozen=True, kw_only=True)
class BlobRecord:
    """Bytes in a backend. `size` is in bytes, `digest` is the SHA-256 and `checksum` the XXH3-128, both in hex.

    `is_damaged` says that the bytes were found to be wrong or missing and were not stored again since. `is_new` says
    that this transaction has inserted the row and is tried for the first time. `copies` is known of an upload only, and
    if the service makes second copies.
    """

    id: int
    digest: str
    size: int
    mime: str
    storage: str
    key: str
    checksum: str | None = None
    is_damaged: bool = False
    is_new: bool = False
    copies: CopyCount | None = field(default=None, compare=False)

    @classmethod
    def of(cls, row: Blob) -> "BlobRecord":
        """Make a record of a row."""
        return cls(
            id=row.id,
            digest=row.digest,
            size=row.size,
            mime=row.mime,
            storage=row.storage,
            key=row.key,
            checksum=row.checksum,
            is_damaged=row.damaged_at is not None,
        )


@dataclass(frozen=True, kw_only=True)
class FileRecord:
    """A file under its stored name. Times are UTC (aware)."""

    id: int
    stored_name: str
    requested_name: str
    public: bool
    is_version: bool
    created_at: datetime
    blob: BlobRecord
    tags: tuple[str, ...] = ()
    password_hash: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, row: File, blob: BlobRecord | None = None) -> "FileRecord":
        """Make a record of a row; `blob` is given where it was read already. The file of a version has no tags."""
        return cls(
            id=row.id,
            stored_name=row.stored_name,
            requested_name=row.requested_name,
            public=row.public,
            is_version=row.kind == "version",
            created_at=row.created_at,
            blob=blob or BlobRecord.of(row.blob),
            tags=() if row.kind == "version" else tuple(tag.name for tag in row.tags),
            password_hash=row.password_hash,
        )

    @classmethod
    def of_row(cls, row: Sequence[Any], tags: tuple[str, ...] = ()) -> "FileRecord":
        """Make a record of a row of `WITH_BLOB`."""
        # Unpacking the whole row is much faster than reading each column by its name.
        number, stored_name, requested_name, public, kind, created_at, password_hash, *of_blob = row
        blob, digest, size, mime, storage, key, checksum, is_damaged = of_blob
        return cls(
            id=number,
            stored_name=stored_name,
            requested_name=requested_name,
            public=public,
            is_version=kind == "version",
            created_at=created_at,
            blob=BlobRecord(
                id=blob,
                digest=digest,
                size=size,
                mime=mime,
                storage=storage,
                key=key,
                checksum=checksum,
                is_damaged=is_damaged,
            ),
            tags=tags,
            password_hash=password_hash,
        )


@dataclass(frozen=True, kw_only=True)
class CollectionRecord:
    """A collection, its limits and its counters (bytes, versions). Times are UTC (aware).

    `versions_count` and `stored_size` include pinned versions, but neither those in quarantine nor pending ones, for
    which rotation waits. `baseline` is what guards compare new versions with.

    `grace` is the one that was set, None for the default. `due_at` and `overdue_at` are None if no backups are
    expected. `storage` is where its versions are stored, None: in the first storage. The last restore test was at
    `restore_tried_at`, the last good one at `restore_tested_at`.
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

    @property
    def unchanged_nights(self) -> int:
        """On how many later days the content of the newest version has arrived again."""
        return Baseline.load(self.baseline).unchanged_nights

    @classmethod
    def of(cls, row: Collection) -> "CollectionRecord":
        """Make a record of a row."""
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
        )


def _guards_of(row: Collection) -> Guards:
    return Guards(
        min_retention=timedelta(seconds=row.min_retention),
        min_version_size=row.min_version_size,
        max_shrink_percent=row.max_shrink_percent,
        max_growth_percent=row.max_growth_percent or 0,
        expects_kind=bool(row.expects_kind),
        expects_change=bool(row.expects_change),
        action=_ACTIONS.get(row.guard_action, "refuse"),
    )


def collection_info(record: CollectionRecord) -> CollectionInfo:
    """Return the collection as plug-ins see it."""
    return CollectionInfo(id=record.id, name=record.filename, description=record.description, labels=record.labels)


@dataclass(frozen=True, kw_only=True)
class VersionRecord:
    """One version and its file.

    A pin ends at `pinned_until`; None: when somebody unpins it. `is_suspicious` says that it violates a guard and was
    kept, or is in quarantine since `quarantined_at` (UTC, aware). A restored one is not evicted before
    `protected_until`, a locked one not removed before `locked_until`. `verdict` is what is known about it. Rotation
    waits for it while `pending_since` is set; it was accepted and found broken at `condemned_at`; `released_by` has
    released it.
    """

    id: str
    collection_id: str
    number: int
    created_at: datetime
    file: FileRecord
    is_suspicious: bool = False
    pinned: bool = False
    pinned_until: datetime | None = None
    pin_reason: str = ""
    quarantined_at: datetime | None = None
    quarantine_reason: str | None = None
    note: str = ""
    protected_until: datetime | None = None
    locked_until: datetime | None = None
    verdict: Verdict = Verdict.UNCHECKED
    verdict_reason: str | None = None
    pending_since: datetime | None = None
    condemned_at: datetime | None = None
    released_at: datetime | None = None
    released_by: str | None = None

    @property
    def is_quarantined(self) -> bool:
        """Whether the version is in quarantine: limits, counters and strategies do not count it."""
        return self.quarantined_at is not None

    @classmethod
    def of(cls, row: Version, file: FileRecord | None = None) -> "VersionRecord":
        """Make a record of a row; `file` is given where it was read already."""
        return cls(
            **{name: getattr(row, name) for name in _OF_VERSION},
            file=file or FileRecord.of(row.file),
            is_suspicious=bool(row.is_suspicious),
            pinned=bool(row.pinned),
            pin_reason=row.pin_reason or "",
            note=row.note or "",
            verdict=Verdict(row.verdict),
        )


_CONVERTED = {"file", "is_suspicious", "pinned", "pin_reason", "note", "verdict"}
_OF_VERSION = [each.name for each in fields(VersionRecord) if each.name not in _CONVERTED]
