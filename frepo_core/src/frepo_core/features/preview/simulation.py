"""Runs a strategy over uploads, without a database. A preview decides by the same function as an upload."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush

from frepo_core.domain.backups.guards import Guards
from frepo_core.domain.backups.locks import NONE, is_locked
from frepo_core.errors import RuleError
from frepo_core.plugins import CollectionState, IncomingVersion, VersionInfo
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.backups.rotation.decision import RotationState, decide, visible_collection
from frepo_core.services.backups.rotation.strategy_answers import call_explain, described

from .simulated_versions import SimulatedVersions
from .timeline import Day, Eviction, Fate, Protection, Refused, Timeline

# How many versions a strategy may read in one simulation. This bounds its time, and does not depend on the machine.
MAX_READS = 4_000_000
# The processor time of one simulation, in seconds: strategies of third parties may do more than read.
MAX_SECONDS = 2.0


class Simulation:
    """A collection to which versions are added. Each object is used for one run."""

    def __init__(
        self,
        plugins: PluginRegistry,
        state: RotationState,
        guards: Guards,
        *,
        last_number: int = 0,
        trash_keep: timedelta = timedelta(),
        trash: Iterable[tuple[datetime, int]] = (),
        restored: Iterable[tuple[datetime, VersionInfo]] = (),
        quarantined: tuple[int, int] = (0, 0),
        locked: timedelta = NONE,
    ) -> None:
        """Start from this state, in which `last_number` is the number of the last version that was added.

        Evicted versions stay in the trash for `trash_keep`; `trash` has the sizes (bytes) that are there already, and
        when each ends. `restored` has the versions that were restored lately, and until when they are treated as pinned
        ones: the state counts them among these. `quarantined` is the number of versions in quarantine and their size.
        Each version is `locked` for that time.
        """
        self._plugins = plugins
        # What protects a version by its age is simulated together.
        lasting = max(guards.min_retention, locked)
        versions = SimulatedVersions(state.versions, replace(guards, min_retention=lasting))
        self._locked = locked
        self._state = replace(state, versions=versions, find_bad=self._find_bad)
        self._guards = guards
        self._last_number = last_number
        self._trash_keep = trash_keep
        self._quarantined = quarantined
        self._trash = SimulatedTrash(trash)
        self._restored = list(restored)
        seen = [*state.versions, *(version for _, version in self._restored)]
        self._fates = {version.id: Fate(version=version, is_imagined=False) for version in seen}

    def run(self, uploads: Iterable[IncomingVersion], *, is_wanted: Callable[[], bool] = lambda: True) -> Timeline:
        """Add the versions in this order, and return what happened. End early once `is_wanted` returns False.

        Raises `PluginError` if the strategy fails, and `ConfigurationError` if it is not installed.
        """
        refused: list[Refused] = []
        days: dict[object, Day] = {}
        is_complete = True
        now, end = None, time.thread_time() + MAX_SECONDS
        for incoming in uploads:
            now = incoming.created_at
            try:
                self._add(incoming)
            except RuleError as error:
                refused.append(Refused(at=now, size=incoming.size, error=error))
            days[now.date()] = self._day(now)
            if self._versions.reads > MAX_READS or time.thread_time() > end or not is_wanted():
                is_complete = False
                break
        self._describe_the_rest(now)
        return Timeline(
            fates=list(self._fates.values()), refused=refused, days=list(days.values()), is_complete=is_complete
        )

    @property
    def _versions(self) -> SimulatedVersions:
        versions = self._state.versions
        assert isinstance(versions, SimulatedVersions)
        return versions

    def _find_bad(self) -> Sequence[VersionInfo]:
        return self._versions.find_bad()

    def _add(self, incoming: IncomingVersion) -> None:
        """Add a version. Raises `RuleError` if it is refused."""
        self._end_protection(incoming.created_at)
        before = self._state
        evicted = decide(self._plugins, before, incoming).evicted
        self._last_number += 1
        number = self._last_number
        added = VersionInfo(
            id=f"upload-{number}",
            number=number,
            size=incoming.size,
            created_at=incoming.created_at,
            locked_until=incoming.created_at + self._locked if self._locked else None,
        )
        if evicted:
            self._note_evictions(before, added, evicted)
        self._fates[added.id] = Fate(version=added, is_imagined=True)
        self._state = replace(
            before,
            versions=self._versions.changed(added, evicted),
            stored_size=before.stored_size + added.size - sum(version.size for version in evicted),
        )

    def _end_protection(self, now: datetime) -> None:
        """Show the strategy the versions that neither their age nor a restoration protects any more."""
        self._versions.at(now)
        for until, version in [each for each in self._restored if each[0] <= now]:
            self._restored.remove((until, version))
            state = self._state
            self._state = replace(
                state,
                versions=self._versions.changed(version),
                stored_size=state.stored_size + version.size,
                pinned_count=state.pinned_count - 1,
                pinned_size=state.pinned_size - version.size,
            )

    def _note_evictions(self, before: RotationState, added: VersionInfo, evicted: Sequence[VersionInfo]) -> None:
        ids = [version.id for version in evicted]
        rules = self._rules(before, ids)
        incoming = IncomingVersion(size=added.size, created_at=added.created_at)
        has_room = visible_collection(before, incoming).has_room(incoming)
        after = before if has_room else replace(before, versions=self._versions.changed(added))
        needed = rules if has_room else self._rules(after, ids)
        for version in evicted:
            # If the strategy does not explain itself, an eviction counts as needed if there was no room.
            is_needed = not has_room and bool(needed[version.id] or not rules[version.id])
            eviction = Eviction(at=added.created_at, by=added.number, cause="room" if is_needed else "rule")
            self._fates[version.id] = replace(self._fates[version.id], rules=rules[version.id], eviction=eviction)
            self._trash.add(added.created_at + self._trash_keep, version.size)

    def _rules(self, state: RotationState, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        collection = CollectionState(
            max_versions=state.limits.versions,
            max_size=state.limits.total_size,
            stored_size=state.stored_size,
            versions=state.versions,
            options=state.options,
        )
        return call_explain(self._plugins, state.strategy, described(collection, state.record), ids)

    def _day(self, now: datetime) -> Day:
        quarantined_count, quarantined_size = self._quarantined
        return Day(
            day=now.date(),
            versions=len(self._versions) + self._state.pinned_count + quarantined_count,
            size=self._state.stored_size + self._state.pinned_size + quarantined_size,
            trash_size=self._trash.size(now),
        )

    def _describe_the_rest(self, now: datetime | None) -> None:
        """Note what keeps the versions that are left."""
        rules = self._rules(self._state, self._versions.ids)
        for name in self._versions.ids:
            protection = self._protection(self._fates[name].version, now) if now is not None else None
            self._fates[name] = replace(self._fates[name], rules=rules[name], protection=protection)
        for _, version in self._restored:
            self._fates[version.id] = replace(self._fates[version.id], protection="restored")

    def _protection(self, version: VersionInfo, now: datetime) -> Protection | None:
        if self._state.hold is not None:
            return "held"
        if is_locked(version.locked_until, [now]):
            return "locked"
        return "min_retention" if self._guards.protects(version.created_at, now=now) else None


class SimulatedTrash:
    """Sizes in bytes, each until its time is over (UTC)."""

    def __init__(self, entries: Iterable[tuple[datetime, int]] = ()) -> None:
        self._entries = list(entries)
        self._size = sum(size for _, size in self._entries)
        heapify(self._entries)

    def add(self, ends_at: datetime, size: int) -> None:
        """Add a version of `size` bytes."""
        heappush(self._entries, (ends_at, size))
        self._size += size

    def size(self, now: datetime) -> int:
        """Return the bytes that are in the trash at a time, which never goes back."""
        while self._entries and self._entries[0][0] <= now:
            self._size -= heappop(self._entries)[1]
        return self._size
