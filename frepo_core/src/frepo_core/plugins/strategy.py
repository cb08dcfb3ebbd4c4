"""The strategy contract: which versions leave when a collection is full. Pure: facts in, decision out."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime


class CollectionFull(Exception):  # the contract's name
    """The strategy refuses the incoming version, as nothing may leave for it."""


@dataclass(frozen=True, kw_only=True)
class VersionInfo:
    """One version present in a collection: its number, size in bytes and creation time in UTC (aware)."""

    id: str
    number: int
    size: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class IncomingVersion:
    """The version that wants in: size in bytes, time in UTC (aware)."""

    size: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class CollectionState:
    """A collection as a strategy sees it. A limit of 0 is no limit; sizes are bytes.

    `versions` is ascending by number and is loaded as far as it is looked at: iterating over the first
    ones of ten thousand costs no more than over the first ones of ten. `stored_size` is the sum of all.
    """

    max_versions: int
    max_size: int
    stored_size: int
    versions: Sequence[VersionInfo]

    def has_room(self, incoming: IncomingVersion, *, without: Sequence[VersionInfo] = ()) -> bool:
        """Tell whether the incoming version fits, once the versions in `without` are gone."""
        count = len(self.versions) - len(without) + 1
        size = self.stored_size - sum(version.size for version in without) + incoming.size
        return (not self.max_versions or count <= self.max_versions) and (not self.max_size or size <= self.max_size)


class CollectionStrategy(ABC):
    """The strategy answers *which*, the service does *how*."""

    @abstractmethod
    def make_room(self, collection: CollectionState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        """Choose the versions to evict so that the incoming one fits; raise `CollectionFull` to refuse.

        Called again for each try of one upload, so it keeps no state. The service refuses the upload
        when what is chosen does not make it fit: a limit holds, whatever a strategy answers.
        """


@dataclass(frozen=True, kw_only=True)
class StrategySpec:
    """A strategy that a collection can name."""

    name: str
    build: Callable[[], CollectionStrategy]
    summary: str = ""
