"""The decision about an incoming version: refused, quarantined, or added, and which versions are deleted for it.

Nothing here uses the database: uploads, releases from quarantine and previews decide with the same function.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from heapq import merge
from typing import Any, TypeAlias, overload

from frepo_core.domain.backups.guards import Objection
from frepo_core.domain.backups.holds import Hold, full_error
from frepo_core.domain.backups.locks import locked_error
from frepo_core.domain.limits import Limits
from frepo_core.domain.structs import struct
from frepo_core.errors import (
    CollectionFullError,
    RuleError,
    TooManyVersionsError,
    VersionTooBigError,
    VersionTooYoungError,
)
from frepo_core.plugins import CollectionFull, CollectionState, IncomingVersion, VersionInfo
from frepo_core.plugins.registry import PluginRegistry

from ...base.records import CollectionRecord
from ..rows.quarantine import OVERTAKEN
from .strategy_answers import call_strategy, described

# Returns the versions that the strategy evicts. Raises `CollectionFull` if it refuses the incoming one.
Ask: TypeAlias = Callable[[], Sequence[VersionInfo]]


@struct
class RotationState:
    """What a decision depends on: a collection and its versions. Sizes are in bytes.

    `versions` are those that strategies see, in ascending order: not the pinned ones, not those in quarantine, not the
    pending ones. `spared` is the newest good version if it is hidden from the strategy, because the incoming version is
    not good: it stays, outside the limits. `stored_size` is the size of `versions`. `pinned_count` and `pinned_size`
    reduce the limits that a strategy is given. `options` is an instance of the strategy's model. `collection_id` is
    None for an imagined collection. `find_bad` returns those of `versions` that are bad, in ascending order, without
    reading the others. `overtaken` are the whole versions in quarantine that newer ones have overtaken, in ascending
    order: they leave when the strategy would evict them, and reduce the limit of the size until then.
    `acts_only_when_full` is as in the `StrategySpec`. `apart_size` is the size of what limits do not count: of versions
    in quarantine and of pending ones, without the incoming one. `record` is the collection itself.
    """

    limits: Limits
    strategy: str
    versions: Sequence[VersionInfo]
    stored_size: int
    pinned_count: int = 0
    pinned_size: int = 0
    options: Any = None
    collection_id: str | None = None
    spared: str | None = None
    find_bad: Callable[[], Sequence[VersionInfo]] | None = None
    overtaken: Sequence[VersionInfo] = ()
    acts_only_when_full: bool = False
    apart_size: int = 0
    record: CollectionRecord | None = None

    @property
    def hold(self) -> Hold | None:
        """The hold of the collection; None: it is not on hold."""
        return self.record.hold if self.record else None


@struct
class Decision:
    """What happens to a version that is not refused: it is added, and `evicted` are deleted for it.

    If `is_quarantined`, it is put into quarantine, and nothing is deleted for it. If `waits`, its verdict is pending,
    and nothing is deleted before there is one.
    """

    evicted: Sequence[VersionInfo] = ()
    is_quarantined: bool = False
    waits: bool = False


def decide(
    plugins: PluginRegistry,
    state: RotationState,
    incoming: IncomingVersion,
    *,
    objection: Objection | None = None,
    is_overtaken: bool = False,
    is_pending: bool = False,
    ask: Ask | None = None,
) -> Decision:
    """Return what happens to the incoming version, and which versions are deleted for it. Changes nothing.

    A strategy may also evict versions when there is room. Such an eviction is optional: it is left out for a version
    that is younger than the minimal retention, and if the incoming version is suspicious. If there is no room, bad
    versions leave before the good ones that the strategy chose, see `replace_good`.

    `objection` is what a guard or an upload check found. Its action decides: `refuse` raises its error, `quarantine`
    needs no room, and with `keep` the version is refused only if an older one would be deleted for it.
    While the collection is on hold, nothing is evicted, and no strategy is asked.
    A version that was overtaken by newer ones is put into quarantine unless it is refused. For one whose verdict is
    pending, nothing is evicted yet: it is only asked whether it would be refused.
    `ask` returns what leaves, if the strategy was asked before; without it, the strategy is called here.

    Raises `RuleError` if the version is refused, `ConfigurationError` if the strategy is not installed, and
    `PluginError` if it fails or its answer breaks a limit.
    """
    check_size_limits(state.limits, incoming.size)
    if objection and objection.action == "refuse":
        raise objection.error
    if state.hold is not None:
        _check_room_on_hold(state, incoming, state.hold)
        is_apart = is_overtaken or (objection is not None and objection.action == "quarantine")
        return Decision(is_quarantined=is_apart, waits=is_pending and not is_apart)
    if is_overtaken:
        _check_room_beside(state, incoming)
    if is_overtaken or (objection and objection.action == "quarantine"):
        return Decision(is_quarantined=True)
    try:
        if needs_no_answer(state, incoming):
            evicted: Sequence[VersionInfo] = ()
        else:
            evicted = ask() if ask else choose(state, incoming, _caller(plugins, state, incoming))
        visible = visible_collection(without_overtaken(state, evicted), incoming)
    except CollectionFull:
        raise _collection_full(state) from None
    if objection:
        if not visible.has_room(incoming):
            raise objection.error
        return Decision()
    allowed = [version for version in evicted if not version.protected]
    if len(allowed) < len(evicted):
        visible = visible_collection(without_overtaken(state, allowed), incoming)
        put_aside = {version.id for version in state.overtaken}
        if not visible.has_room(incoming, without=[version for version in allowed if version.id not in put_aside]):
            raise _too_young(evicted, incoming)
    return Decision(waits=True) if is_pending else Decision(evicted=allowed)


def choose(
    state: RotationState, incoming: IncomingVersion, call: Callable[[CollectionState], Sequence[VersionInfo]]
) -> Sequence[VersionInfo]:
    """Return what leaves for the incoming version; `call` asks the strategy.

    With versions that were overtaken, it is asked twice: first which of these it would evict if they were normal ones
    that its limit of the number does not count, and then about the collection, which does not show them.
    Raises `RuleError` if the pinned versions leave no room, and what `call` raises.
    """
    if needs_no_answer(state, incoming):
        return ()
    leaving: list[VersionInfo] = []
    if state.overtaken:
        put_aside = {version.id for version in state.overtaken}
        leaving = [version for version in call(_with_overtaken(state, incoming)) if version.id in put_aside]
    visible = visible_collection(without_overtaken(state, leaving), incoming)
    return [*leaving, *replace_good(state, visible, incoming, call(visible))]


def needs_no_answer(state: RotationState, incoming: IncomingVersion) -> bool:
    """Return whether the strategy does nothing, because the incoming version has room next to all that is there.

    It does nothing on hold either. Raises `RuleError` as `visible_collection`.
    """
    if state.hold is not None:
        return True
    return state.acts_only_when_full and _with_overtaken(state, incoming).has_room(incoming)


def without_overtaken(state: RotationState, leaving: Sequence[VersionInfo]) -> RotationState:
    """Return the state without those overtaken versions that are among `leaving`."""
    ids = {version.id for version in leaving}
    return replace(state, overtaken=[version for version in state.overtaken if version.id not in ids])


def _with_overtaken(state: RotationState, incoming: IncomingVersion) -> CollectionState:
    visible = visible_collection(replace(state, overtaken=()), incoming)
    return replace(
        visible,
        max_versions=visible.max_versions + len(state.overtaken) if visible.max_versions else 0,
        stored_size=visible.stored_size + sum(version.size for version in state.overtaken),
        versions=MergedVersions(state.versions, state.overtaken) if state.overtaken else state.versions,
    )


def _caller(
    plugins: PluginRegistry, state: RotationState, incoming: IncomingVersion
) -> Callable[[CollectionState], Sequence[VersionInfo]]:
    return lambda visible: call_strategy(
        plugins, state.strategy, described(visible, state.record), incoming, collection_id=state.collection_id
    )


def _check_room_beside(state: RotationState, incoming: IncomingVersion) -> None:
    """Raise `CollectionFullError` if a version that was overtaken does not fit: nothing is evicted for it."""
    put_aside = sum(version.size for version in state.overtaken)
    stored = state.stored_size + state.pinned_size + put_aside
    if state.limits.total_size and stored + incoming.size > state.limits.total_size:
        raise CollectionFullError(context={"reason": OVERTAKEN})


def _check_room_on_hold(state: RotationState, incoming: IncomingVersion, hold: Hold) -> None:
    """Raise `CollectionFullError` if a version does not fit next to all that is there: nothing leaves on hold.

    The number of versions has no limit then, and that of the size counts what is in quarantine or pending, too.
    """
    stored = state.stored_size + state.pinned_size + state.apart_size
    if state.limits.total_size and stored + incoming.size > state.limits.total_size:
        raise full_error(hold)


def check_keeps_newest(state: RotationState, decision: Decision, number: int, *, good: str | None) -> None:
    """Raise `RuleError` if the newest version would be evicted for the older one with this number, unless it is bad.

    The same holds for the newest good one, whose id is `good`: newer ones may be bad or pending.
    """
    newest = state.versions[-1] if state.versions else None
    kept = {good} | ({newest.id} if newest and not newest.is_bad else set())
    if any(version.number > number and version.id in kept for version in decision.evicted):
        raise _collection_full(state)


def check_size_limits(limits: Limits, size: int) -> None:
    """Raise `RuleError` if a version of `size` bytes would not fit even into the empty collection."""
    if limits.version_size and size > limits.version_size:
        raise VersionTooBigError()
    if limits.total_size and size > limits.total_size:
        raise CollectionFullError()


def visible_collection(state: RotationState, incoming: IncomingVersion) -> CollectionState:
    """Return the collection as its strategy sees it. Raises `RuleError` if the pinned versions leave no room at all."""
    limits = state.limits
    if limits.versions and state.pinned_count >= limits.versions:
        raise TooManyVersionsError(context={"max": limits.versions})
    hidden_size = state.pinned_size + sum(version.size for version in state.overtaken)
    # The size of the incoming version may still be unknown. A limit of 0 would be none.
    if limits.total_size and hidden_size + max(incoming.size, 1) > limits.total_size:
        raise CollectionFullError()
    return CollectionState(
        max_versions=limits.versions - state.pinned_count if limits.versions else 0,
        max_size=limits.total_size - hidden_size if limits.total_size else 0,
        stored_size=state.stored_size,
        versions=state.versions,
        options=state.options,
    )


def replace_good(
    state: RotationState, visible: CollectionState, incoming: IncomingVersion, evicted: Sequence[VersionInfo]
) -> Sequence[VersionInfo]:
    """Return what leaves if the strategy has chosen `evicted`: if room is needed, bad versions leave before good ones.

    Of the chosen ones, only those leave then that are still needed. The strategy sees the collection as `visible`.
    """
    if all(version.is_bad for version in evicted):
        return evicted
    found = state.find_bad() if state.find_bad else [version for version in state.versions if version.is_bad]
    if not found:
        return evicted
    bad = [version for version in found if not version.protected]
    if not bad or visible.has_room(incoming):
        return evicted
    ids = {version.id for version in bad}
    count = len(visible.versions) + 1 - visible.max_versions if visible.max_versions else 0
    size = visible.stored_size + incoming.size - visible.max_size if visible.max_size else 0
    leaving: list[VersionInfo] = []
    for version in [*bad, *(version for version in evicted if version.id not in ids)]:
        if count <= 0 and size <= 0:
            break
        leaving.append(version)
        count, size = count - 1, size - version.size
    return leaving


def _too_young(evicted: Sequence[VersionInfo], incoming: IncomingVersion) -> RuleError:
    """Return the error for versions that have to leave, and may not: it says if one of them is locked."""
    locked = [one.locked_until for one in evicted if one.locked_until and one.locked_until > incoming.created_at]
    return locked_error(max(locked)) if locked else VersionTooYoungError()


def _collection_full(state: RotationState) -> RuleError:
    limit = state.limits.versions
    if limit and len(state.versions) + state.pinned_count >= limit:
        return TooManyVersionsError(context={"max": limit})
    return CollectionFullError()


class FoundVersions(Sequence[VersionInfo], ABC):
    """`count` versions in ascending order of their numbers, which are found when they are accessed."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._found: list[VersionInfo] = []

    @abstractmethod
    def _find_more(self) -> bool:
        """Add the next ones to `_found`; return False if there are none."""

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> VersionInfo: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[VersionInfo]: ...

    def __getitem__(self, index: int | slice) -> VersionInfo | Sequence[VersionInfo]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        while len(self._found) <= position and self._find_more():
            pass
        return self._found[position]


class MergedVersions(FoundVersions):
    """The versions of both sequences, each of which is in ascending order of their numbers."""

    def __init__(self, first: Sequence[VersionInfo], second: Sequence[VersionInfo]) -> None:
        super().__init__(len(first) + len(second))
        self._left = merge(first, second, key=lambda version: version.number)

    def _find_more(self) -> bool:
        following = list(itertools.islice(self._left, 1))
        self._found += following
        return bool(following)
