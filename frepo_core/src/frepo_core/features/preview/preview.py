"""The use case of a preview: what a collection, or an imagined schedule, keeps under rules that need not be saved."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from sqlalchemy import Row, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Content, File, TrashEntry, Version
from frepo_core.domain.backups.locks import extended
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.identity import Identity
from frepo_core.domain.schedules.backup_deadlines import Expectation, parse_expectation
from frepo_core.domain.structs import struct
from frepo_core.errors import FieldsError, TooManyPreviewsError
from frepo_core.plugins import IncomingVersion, VersionInfo
from frepo_core.services.backups.collections.planned_change import planned, service_limits
from frepo_core.services.backups.rotation.evictable_versions import read_state
from frepo_core.services.backups.rotation.strategies import Strategies
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.rows.collection_rows import find_collection
from frepo_core.services.backups.rows.removal import incarnation_of
from frepo_core.services.backups.rows.verdicts import is_bad
from frepo_core.services.backups.rows.version_rows import is_restored
from frepo_core.services.base.records import CollectionRecord
from frepo_core.settings import Settings

from .schedule import Schedule
from .simulation import Simulation
from .timeline import Fate, Protection, Timeline

NIGHTLY = parse_expectation("P1D")
TWO_YEARS = timedelta(days=730)
MAX_VERSIONS = 20_000
AT_ONCE = 2
RETRY_SECONDS = 2
SECONDS = 15.0  # for one preview, by the clock: its processor time is limited, too


@struct
class UploadPlan:
    """Uploads to imagine: how often, for how long, and the size in bytes, which grows by `growth` percent a month.

    None is now for `start`, and the size of the newest version for `size`.
    """

    every: Expectation = NIGHTLY
    duration: timedelta = TWO_YEARS
    size: int | None = None
    growth: float = 0.0
    start: datetime | None = None


@struct
class Preview:
    """What happens to the versions of a collection under these rules from `start` on (UTC)."""

    collection: CollectionRecord
    start: datetime
    timeline: Timeline


class Previews:
    """Simulates collections with the code that uploads run."""

    def __init__(self, database: Database, settings: Settings, strategies: Strategies) -> None:
        self._database = database
        self._plugins = strategies.plugins
        self._strategies = strategies
        self._ceilings = service_limits(settings)
        self._trash_keep = settings.trash_keep
        self._running: list[str] = []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def place(self, *, by: Identity) -> Iterator[None]:
        """Take one of the two places for previews in this process; a token has at most one at a time.

        Raises `TooManyPreviewsError`: it does not wait, because a waiting request would keep a thread.
        """
        with self._lock:
            if len(self._running) >= AT_ONCE or by.fingerprint in self._running:
                text = f"A token has one preview at a time, and a process {AT_ONCE}: try again when one has ended"
                raise TooManyPreviewsError(text, retry_after=RETRY_SECONDS)
            self._running.append(by.fingerprint)
        try:
            yield
        finally:
            self._running.remove(by.fingerprint)

    def preview(
        self,
        collection_id: str,
        change: CollectionChange,
        plan: UploadPlan | None = None,
        *,
        is_empty: bool = False,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Preview:
        """Return what happens to the versions of a collection after a change of its rules, which is not saved.

        Without a plan, one version of the size of the newest is added now. With `is_empty`, the preview begins without
        the versions that are there. It ends early once `is_wanted` returns False. Raises `FieldsError` and `RuleError`
        as an edit does, and for a wrong plan; `ConfigurationError` if the strategy is not installed, and `PluginError`
        if it fails, and `StrategyHangsError`.
        """
        now = utc_now()
        with self._database.reading(is_snapshot=True) as session:
            current = CollectionRecord.of(find_collection(session, collection_id))
            collection = planned(current, change, plugins=self._plugins, ceilings=self._ceilings)
            seen = _without_versions(collection) if is_empty else collection
            _check_count(0 if is_empty else collection.versions_count + collection.quarantined_count)
            state = read_state(session, self._plugins, seen, now=now)
            state = replace(
                state, versions=[] if is_empty else _locked(state.versions, current.locked, collection.locked)
            )
            others = [] if is_empty else _other_versions(session, collection.id)
            restored = [] if is_empty else _restored_versions(session, collection.id, now)
            trash = [] if is_empty else _trash(session, collection.id)
            # The preview keeps those that were overtaken.
            put_aside = 0 if is_empty else sum(version.size for version in state.overtaken)
            apart = 0 if is_empty else max(state.apart_size - put_aside, 0)
            state = replace(state, overtaken=(), pinned_size=state.pinned_size + put_aside, apart_size=apart)
            hidden = [*(fate.version for fate in others), *(version for _, version in restored)]
            size = _usual_size(state.versions, others, [version for _, version in restored])
        start = (plan and plan.start) or now
        uploads = _uploads(plan, start, size) if plan else [IncomingVersion(size=size or 0, created_at=start)]
        _check_count(len(state.versions) + len(hidden) + len(uploads))
        simulation = Simulation(
            self._plugins,
            state,
            collection.guards,
            last_number=0 if is_empty else collection.last_number,
            trash_keep=min(filter(None, (self._trash_keep, collection.trash_keep)), default=self._trash_keep),
            trash=trash,
            restored=restored,
            quarantined=_quarantined(others, put_aside),
            locked=collection.locked,
        )
        timeline = self._strategies.guard(
            collection.strategy, lambda: simulation.run(uploads, is_wanted=is_wanted), seconds=SECONDS
        )
        fates = sorted(chain(timeline.fates, others), key=lambda fate: fate.version.number)
        return Preview(collection=collection, start=start, timeline=replace(timeline, fates=fates))


def _locked(versions: Sequence[VersionInfo], before: timedelta, after: timedelta) -> list[VersionInfo]:
    """Return the versions as an edit of the lock from `before` to `after` would lock them."""
    if before == after:
        return list(versions)
    ends = [extended(one.locked_until, one.created_at, before=before, after=after) for one in versions]
    return [replace(one, locked_until=end) for one, end in zip(versions, ends, strict=True)]


def _check_count(versions: int) -> None:
    """Raise `FieldsError` if there are more versions than one preview simulates."""
    if versions > MAX_VERSIONS:
        problem = f"{versions} versions are more than the {MAX_VERSIONS} of one preview"
        raise FieldsError({"empty": [f"{problem}: leave out those that are there, or shorten the schedule"]})


def _without_versions(collection: CollectionRecord) -> CollectionRecord:
    return replace(collection, versions_count=0, stored_size=0, pinned_count=0, pinned_size=0, restored_until=None)


def _select(collection_id: str) -> Any:
    return (
        select(
            Version.id,
            Version.number,
            Version.created_at,
            Version.is_quarantined,
            Version.pending_since,
            Version.protected_until,
            Version.verdict,
            Content.size,
        )
        .join(File, File.id == Version.file_id)
        .join(Content, Content.id == File.content_id)
        .where(Version.collection_id == collection_id)
    )


def _info(row: Row[Any]) -> VersionInfo:
    bad = is_bad(Verdict(row.verdict))
    return VersionInfo(id=row.id, number=row.number, size=row.size, created_at=row.created_at, is_bad=bad)


def _other_versions(session: Session, collection_id: str) -> list[Fate]:
    """Return the versions that strategies do not see: the pinned ones, those in quarantine, and the pending ones."""
    query = _select(collection_id).where(or_(Version.pinned.is_(True), ~Version.is_counted))
    return [Fate(version=_info(row), is_imagined=False, protection=_protection(row)) for row in session.execute(query)]


def _protection(row: Row[Any]) -> Protection:
    if row.is_quarantined:
        return "quarantined"
    return "pinned" if row.pending_since is None else "pending"


def _restored_versions(session: Session, collection_id: str, now: datetime) -> list[tuple[datetime, VersionInfo]]:
    """Return the versions that strategies do not see for some time, and until when."""
    query = _select(collection_id).where(is_restored(now), Version.pinned.is_(False), Version.is_counted)
    return [(row.protected_until, _info(row)) for row in session.execute(query)]


def _trash(session: Session, collection_id: str) -> list[tuple[datetime, int]]:
    """Return when each entry of the trash ends, and its size."""
    incarnation = incarnation_of(find_collection(session, collection_id))
    query = select(TrashEntry.ends_at, TrashEntry.size).where(TrashEntry.incarnation == incarnation)
    return [(row.ends_at, row.size) for row in session.execute(query)]


def _usual_size(counted: Sequence[VersionInfo], others: list[Fate], restored: list[VersionInfo]) -> int | None:
    """Return the size of the newest version that is not bad; if all are, of the newest. None without versions."""
    sound = [*counted, *(fate.version for fate in others if fate.protection != "quarantined"), *restored]
    sound = [version for version in sound if not version.is_bad]
    versions = sound or [*counted, *(fate.version for fate in others)]
    newest = max(versions, key=lambda version: version.number, default=None)
    return newest.size if newest else None


def _quarantined(others: list[Fate], put_aside: int) -> tuple[int, int]:
    sizes = [fate.version.size for fate in others if fate.protection == "quarantined"]
    return len(sizes), sum(sizes) - put_aside


def _uploads(plan: UploadPlan, start: datetime, newest_size: int | None) -> list[IncomingVersion]:
    size = newest_size if plan.size is None else plan.size
    if size is None:
        raise FieldsError({"schedule.size": ["is needed, because there is no version whose size can be taken"]})
    schedule = Schedule(every=plan.every, start=start, duration=plan.duration, size=size, growth=plan.growth)
    return list(schedule.uploads())
