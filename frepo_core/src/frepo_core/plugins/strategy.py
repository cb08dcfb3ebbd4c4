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
    """The version that is to be added: size in bytes, time in UTC (aware).

    Before the content is read, the size is what the client announced, and 0 if it announced none (a chunked body).
    """

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

        Called at most twice for an upload: before its content is read, to refuse it early, and in the transaction
        that adds it, where the answer counts. If another writer undoes that transaction, it is tried again with the
        new state of the collection. So a strategy keeps no state. Return versions of this collection, each once, and
        enough of them: any other answer is a fault of the plug-in (500), and nothing changes.
        """


@dataclass(frozen=True, kw_only=True)
class StrategySpec:
    """A strategy that a collection can name."""

    name: str
    build: Callable[[], CollectionStrategy]
    summary: str = ""
