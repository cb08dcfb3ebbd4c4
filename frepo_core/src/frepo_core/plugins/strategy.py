"""The strategy contract: which versions of a full collection are evicted. A strategy has no side effects."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from .checks.upload_check import CollectionInfo
from .guards import Guards

NO_GUARDS = Guards()


class CollectionFull(Exception):  # the contract's name
    """The strategy refuses the incoming version, because no version may be evicted for it."""


@dataclass(frozen=True, kw_only=True)
class VersionInfo:
    """A version in a collection: number, size in bytes, creation time in UTC (aware).

    `protected` is whether it is younger than the minimal retention of the collection, or locked: then nobody can remove
    it before `locked_until` (None: it is not locked). If the new version fits without
    it, the service keeps it although the strategy evicts it; if not, the service refuses the new one.

    `is_bad` is whether something is known against it: it was found broken or suspicious. If room is needed, the service
    evicts such versions first, before the good ones that the strategy chooses.
    """

    id: str
    number: int
    size: int
    created_at: datetime
    protected: bool = False
    is_bad: bool = False
    locked_until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class IncomingVersion:
    """The version to add: size in bytes, time in UTC (aware).

    Before the content is read, `size` is the Content-Length, or 0 if it is unknown (a chunked body). `number` is the
    number that the version will have, None if that is unknown.
    """

    size: int
    created_at: datetime
    number: int | None = None


@dataclass(frozen=True, kw_only=True)
class CollectionState:
    """A collection as a strategy sees it. A limit of 0 means no limit; sizes are bytes.

    Strategies do not see pinned versions, nor versions in quarantine: the limits are reduced by what is pinned.
    `versions` is in ascending order of number and is loaded lazily: the first versions of ten thousand cost as much
    as the first versions of ten. `stored_size` is the sum of all sizes. `options` is an instance of the model that the
    strategy's `StrategySpec` names, None without one. `collection` has its id, name and labels, None for one that a
    preview imagines, and `guards` are its guards.
    """

    max_versions: int
    max_size: int
    stored_size: int
    versions: Sequence[VersionInfo]
    options: Any = None
    collection: CollectionInfo | None = None
    guards: Guards = NO_GUARDS

    def has_room(self, incoming: IncomingVersion, *, without: Sequence[VersionInfo] = ()) -> bool:
        """Whether the incoming version fits after the versions in `without` are evicted."""
        count = len(self.versions) - len(without) + 1
        size = self.stored_size - sum(version.size for version in without) + incoming.size
        return (not self.max_versions or count <= self.max_versions) and (not self.max_size or size <= self.max_size)


class CollectionStrategy(ABC):
    """Decides which versions to evict. The service deletes them."""

    @abstractmethod
    def make_room(self, collection: CollectionState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        """Choose the versions to evict so that the incoming one fits; raise `CollectionFull` to refuse.

        Called for an upload before its content is read, to refuse it early, and before the transaction that adds it,
        where the result is used; only once if the content is small and nothing changes between. If the collection
        has changed when the transaction begins, it is called again with the new state. So a strategy must not keep
        state. It has two seconds for each call, without the time in which the service loads versions. Return versions
        of this collection, each once, and enough of them: any other answer is a fault of the plug-in (500), and nothing
        changes.

        A strategy may return versions although there is room, to thin a collection, also all of them.
        """

    def explain(self, collection: CollectionState) -> Mapping[str, Sequence[str]]:
        """Return for versions of the collection, by id, the names of the rules that keep them, the strongest first.

        Optional: without it, a preview of the retention shows when a version is evicted, but not which rules kept it.
        `versions` holds the whole collection as it is, the newest included. A version that no rule keeps has an
        empty list, or none. Not called for uploads.
        """
        return {}


class StrategyOptions(BaseModel):
    """Base of the options of a strategy: unknown names are refused. Each option has a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, kw_only=True)
class StrategySpec:
    """A strategy that collections can choose by name.

    `options` is the model of the options that each collection has for the strategy, often a `StrategyOptions`. It is
    validated when a collection is created or edited. Every option needs a default: the old API creates collections
    without options.

    `acts_only_when_full` says that the strategy evicts nothing and refuses nothing as long as the incoming version has
    room within the limits. It is not called then, which saves a query of the versions and a thread.

    `guards` are the defaults of the collections that are created with this strategy, in place of frepo's: those that it
    chooses. Who creates a collection can choose others.

    `may_evict_all` is deprecated: it is ignored, and the log names a package that passes it. Leave it out.
    """

    name: str
    build: Callable[[], CollectionStrategy]
    summary: str = ""
    options: type[BaseModel] | None = None
    may_evict_all: bool | None = None
    acts_only_when_full: bool = False
    guards: Guards | None = None

    def __post_init__(self) -> None:
        """Check the guards and the model of the options. Raises `TypeError` or `ValueError`."""
        if not isinstance(self.guards, Guards | None):
            raise TypeError(f"guards is {self.guards!r}; write Guards(...)")
        if self.options is None:
            return
        if not (isinstance(self.options, type) and issubclass(self.options, BaseModel)):
            raise TypeError(f"options is {self.options!r}; write a class that inherits StrategyOptions")
        if required := [name for name, field in self.options.model_fields.items() if field.is_required()]:
            raise ValueError(f"the options of {self.name!r} have no default for {', '.join(required)}; give each one")
