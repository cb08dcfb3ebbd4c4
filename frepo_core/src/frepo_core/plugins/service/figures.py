"""Figures about the service that plug-ins can read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..checks.upload_check import CollectionInfo


@dataclass(frozen=True, kw_only=True)
class MissingBackup:
    """A backup that was due at `due_at` (UTC, aware) and has not arrived. `is_overdue`: also after the grace."""

    collection: CollectionInfo
    due_at: datetime
    is_overdue: bool
    last_arrival: datetime | None


@dataclass(frozen=True, kw_only=True)
class ExpectedBackups:
    """How many collections expect backups, and which are missing, the overdue ones and the oldest first."""

    expected: int
    missing: Sequence[MissingBackup]


@dataclass(frozen=True, kw_only=True)
class CollectionUsage:
    """What a collection contains: its versions, the bytes of all of them, and the time of the newest (UTC, aware).

    `max_versions` and `max_size` are its limits; 0 is no limit. `state` is that of `GET /api/v1/collections`, such as
    `ok` or `overdue`; `due_at` is when the next version is expected, if one is. `newest_good_at` is the time of the
    newest version whose verdict is good, `restore_tested_at` that of the last good restore test. The newest content has
    arrived again on `unchanged_nights` later days.
    """

    id: str
    name: str
    versions: int
    size: int
    newest_at: datetime | None
    max_versions: int
    max_size: int
    state: str = ""
    due_at: datetime | None = None
    newest_good_at: datetime | None = None
    restore_tested_at: datetime | None = None
    unchanged_nights: int = 0


@dataclass(frozen=True, kw_only=True)
class JobStatus:
    """A job of the worker. Times are in UTC (aware), None for never.

    `is_failing` is whether its last run failed. `next_at` is None if its schedule is `off`.
    """

    name: str
    is_failing: bool
    next_at: datetime | None
    last_started: datetime | None
    last_success: datetime | None


@dataclass(frozen=True, kw_only=True)
class CopyStatus:
    """The second copies in one storage. Times are in UTC (aware), None for never.

    - `behind`, `size`: how many contents have no sound copy there, and their bytes; at most 100,000 are counted.
    - `oldest_at`: since when the one that has waited longest waits; `is_late`: whether that is too long.
    - `is_known`: False if contents were not compared with their copies since a recovery: more may be behind.
    - `versions_with_one_copy`: how many versions have one copy only.
    - `fallbacks`: how many reads of the whole service were answered from another copy, because one failed.
    - `checked_at`, `first_checked_at`: when all these copies, and all contents in first storages, were checked last.
    """

    storage: str
    behind: int
    size: int
    oldest_at: datetime | None
    is_late: bool
    versions_with_one_copy: int
    fallbacks: int
    checked_at: datetime | None
    first_checked_at: datetime | None
    is_known: bool = True


@dataclass(frozen=True, kw_only=True)
class CompactStatus:
    """What compact storage saves, as its last run has counted it.

    - `encoded`, `saved`: how many contents are compressed or differences, and by how many bytes they are smaller.
    - `depth`: how many differences are read for one content at most; `waiting`: how many contents are encoded later.
    - `debt`: bytes of contents that are only kept as the base of others, now.
    """

    encoded: int
    saved: int
    depth: int
    waiting: int
    debt: int


@dataclass(frozen=True, kw_only=True)
class ServiceStatistics:
    """Figures about the service that are cheap to read.

    - `versions` and `size` (bytes) are sums over all collections; equal content counts each time.
    - `trash_versions` and `trash_size` (bytes): what can be restored; equal content counts each time.
    - `collections_by_state`: how many collections are in each state that applies to them; all states are there.
    - `versions_by_verdict`: how many versions are `good`, `pending`, `suspicious` and `broken`, with the quarantine.
    - `events_behind`: how many events each subscriber has not handled yet; `parked_events`: those it could not handle.
    - `copies`: the second copies, for each storage that has some.
    - `compact`: what compact storage saves, None if nothing is compacted.
    - `free_space`: bytes of the storage for new blobs, None if unknown; `temporary_space`: of the disk for uploads.
    """

    collections: int
    versions: int
    size: int
    damaged_blobs: int
    events_behind: Mapping[str, int]
    parked_events: Mapping[str, int]
    jobs: Sequence[JobStatus]
    storage: str
    free_space: int | None
    temporary_space: int
    collections_by_state: Mapping[str, int] = field(default_factory=dict)
    trash_versions: int = 0
    trash_size: int = 0
    versions_by_verdict: Mapping[str, int] = field(default_factory=dict)
    copies: Sequence[CopyStatus] = ()
    compact: CompactStatus | None = None
