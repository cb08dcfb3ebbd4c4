"""The versions of a simulated collection, as a strategy reads them."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import overload

from frepo_core.domain.backups.guards import Guards
from frepo_core.plugins import VersionInfo

_NUMBER = attrgetter("number")
_NEVER = datetime.min.replace(tzinfo=UTC)


class SimulatedVersions(Sequence[VersionInfo]):
    """Versions in ascending order. It counts how many of them are read.

    Whether the minimal retention protects a version is decided when it is read: few are, and many may be there.
    """

    def __init__(self, versions: Iterable[VersionInfo], guards: Guards) -> None:
        is_protected = bool(guards.min_retention)
        self._versions = [
            each if each.protected == is_protected else replace(each, protected=is_protected) for each in versions
        ]
        self._bad = {version.number for version in self._versions if version.is_bad}
        self._guards = guards
        self._old = _NEVER
        self.reads = 0

    def at(self, now: datetime) -> None:
        """Set the time at which the versions are read, which never goes back."""
        self._old = _newest_unprotected(self._guards, now)

    @property
    def ids(self) -> list[str]:
        """The ids of all versions. This does not count as reading."""
        return [version.id for version in self._versions]

    def find_bad(self) -> list[VersionInfo]:
        """Return the bad versions, in ascending order."""
        return [self[bisect_left(self._versions, number, key=_NUMBER)] for number in sorted(self._bad)]

    def changed(self, added: VersionInfo, evicted: Iterable[VersionInfo] = ()) -> "SimulatedVersions":
        """Return the versions after one is added and others are evicted. Both count the same reads before."""
        after = SimulatedVersions((), self._guards)
        after._versions, after._old, after.reads = self._versions.copy(), self._old, self.reads
        after._bad = self._bad - {version.number for version in evicted} | ({added.number} if added.is_bad else set())
        for version in evicted:
            del after._versions[bisect_left(after._versions, version.number, key=_NUMBER)]
        is_protected = bool(self._guards.min_retention)
        insort(after._versions, replace(added, protected=True) if is_protected else added, key=_NUMBER)
        return after

    def __len__(self) -> int:
        return len(self._versions)

    def __iter__(self) -> Iterator[VersionInfo]:
        for index, version in enumerate(self._versions):
            self.reads += 1
            yield self._unprotected(index) if version.protected and version.created_at <= self._old else version

    @overload
    def __getitem__(self, index: int) -> VersionInfo: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[VersionInfo]: ...

    def __getitem__(self, index: int | slice) -> VersionInfo | Sequence[VersionInfo]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        self.reads += 1
        found = self._versions[index]
        return self._unprotected(index) if found.protected and found.created_at <= self._old else found

    def _unprotected(self, index: int) -> VersionInfo:
        self._versions[index] = version = replace(self._versions[index], protected=False)
        return version


def _newest_unprotected(guards: Guards, now: datetime) -> datetime:
    """Return the time up to which versions are not protected any more, see `Guards.protects`."""
    try:
        return now - guards.min_retention
    except OverflowError:
        return _NEVER
