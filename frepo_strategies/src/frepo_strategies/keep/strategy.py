"""The strategy `keep`: thins old versions, and decides what gives way if the limits have no room."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from frepo_core.plugins import CollectionFull, CollectionState, CollectionStrategy, IncomingVersion, VersionInfo

from .options import KeepOptions
from .policy import STRENGTH, Policy, find_rules

_WEAKNESS = {rule: weakness for weakness, rule in enumerate(STRENGTH)}
# Of two versions with the same time, the one with the higher number is the newer one.
_BY_TIME = attrgetter("created_at", "number")


class Keep(CollectionStrategy):
    """Keeps the versions that a rule keeps, and evicts the others when a new version is added.

    The new version counts for the rules, and is kept in any case.
    """

    def make_room(self, collection: CollectionState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        """Return the versions that no rule keeps; then those with the weakest rule, until the new one fits.

        Raises `CollectionFull` if the new one could never fit, or if only versions are left that a rule keeps and the
        option `on_full` is `refuse`.
        """
        options = _options(collection)
        if collection.max_size and incoming.size > collection.max_size:
            raise CollectionFull("The version is larger than the maximum size of the whole collection")
        versions = sorted(collection.versions, key=_BY_TIME)
        rules = _rules_with(incoming, versions, options)
        # A protected version that no rule keeps stays while there is room, so it does not make room here.
        thinned = [
            version for version, names in zip(versions, rules, strict=True) if not names and not version.protected
        ]
        if collection.has_room(incoming, without=thinned):
            return thinned
        evictable = [*thinned, *(one for one in _bad(versions, rules) if not one.protected)]
        if options.on_full == "refuse" and not collection.has_room(incoming, without=evictable):
            raise CollectionFull("A rule keeps every version that is left, and on_full is refuse")
        return _until_it_fits(collection, incoming, thinned, _weakest_first(versions, rules))

    def explain(self, collection: CollectionState) -> Mapping[str, Sequence[str]]:
        """Return the names of the rules that keep each version."""
        versions = sorted(collection.versions, key=_BY_TIME, reverse=True)
        if not versions:
            return {}
        last_added = max(versions, key=attrgetter("number"))
        times = [version.created_at for version in versions]
        bad = {position for position, version in enumerate(versions) if version.is_bad}
        rules = find_rules(times, Policy.of(_options(collection)), latest=last_added.created_at, bad=bad)
        return {version.id: names for version, names in zip(versions, rules, strict=True)}


def _options(collection: CollectionState) -> KeepOptions:
    return collection.options if isinstance(collection.options, KeepOptions) else KeepOptions()


def _rules_with(incoming: IncomingVersion, versions: Sequence[VersionInfo], options: KeepOptions) -> list[list[str]]:
    """Return for each version, in the order of time, which rules keep it after the incoming one is added."""
    times = [version.created_at for version in reversed(versions)]
    # The clock may have been set back: then some versions are newer than the incoming one.
    position = next((index for index, time in enumerate(times) if time <= incoming.created_at), len(times))
    times.insert(position, incoming.created_at)
    bad = {index + (index >= position) for index, version in enumerate(reversed(versions)) if version.is_bad}
    rules = find_rules(times, Policy.of(options), latest=incoming.created_at, bad=bad)
    del rules[position]
    return rules[::-1]


def _bad(versions: Sequence[VersionInfo], rules: Sequence[Sequence[str]]) -> list[VersionInfo]:
    """Return the bad versions that a rule keeps."""
    return [version for version, names in zip(versions, rules, strict=True) if names and version.is_bad]


def _weakest_first(versions: Sequence[VersionInfo], rules: Sequence[Sequence[str]]) -> list[VersionInfo]:
    """Sort by the strongest rule of each version, the weakest first, then the oldest.

    Bad versions come first, protected ones last.
    """
    weakness = {
        version.id: min((_WEAKNESS[name] for name in names), default=len(STRENGTH))
        for version, names in zip(versions, rules, strict=True)
    }
    return sorted(versions, key=lambda version: (version.protected, not version.is_bad, -weakness[version.id]))


def _until_it_fits(
    collection: CollectionState, incoming: IncomingVersion, thinned: Sequence[VersionInfo], order: Iterable[VersionInfo]
) -> list[VersionInfo]:
    """Return the thinned versions, and the first of the others in this order without which the incoming one fits."""
    evicted = list(thinned)
    chosen = {version.id for version in thinned}
    count = len(collection.versions) + 1 - len(evicted)
    size = collection.stored_size + incoming.size - sum(version.size for version in evicted)
    for version in order:
        has_count = not collection.max_versions or count <= collection.max_versions
        if has_count and (not collection.max_size or size <= collection.max_size):
            break
        if version.id not in chosen:
            evicted.append(version)
            count, size = count - 1, size - version.size
    return evicted
