"""Asks the strategy of a plug-in, and checks what it answers; an error names the package."""

from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from frepo_core.errors import FrepoError, PluginError
from frepo_core.plugins import CollectionFull, CollectionState, IncomingVersion, PluginRegistry, VersionInfo


def call_strategy(
    plugins: PluginRegistry, name: str, state: CollectionState, incoming: IncomingVersion, *, is_final: bool
) -> list[VersionInfo]:
    """Return the versions that the strategy evicts. Raises `CollectionFull`, or `PluginError` for a broken contract.

    `is_final`: the answer is followed. Otherwise `state` may be out of date, and an answer that does not fit it is empty.
    """
    strategy, origin = plugins.strategy(name), plugins.strategy_origin(name)
    try:
        answer: Any = strategy.make_room(state, incoming)
        evicted = list(answer)
    except (CollectionFull, FrepoError, SQLAlchemyError):  # the database's errors come out of `state.versions`
        raise
    except Exception as error:
        raise PluginError(f"{origin} failed in make_room(): {type(error).__name__}: {error}") from error
    if problem := _problem(evicted, state, incoming):
        if not is_final:
            return []
        raise PluginError(f"{origin} answered make_room() with {problem}")
    return evicted


def _problem(evicted: list[Any], state: CollectionState, incoming: IncomingVersion) -> str:
    """Say what is wrong with an answer; an empty text is nothing."""
    if odd := [version for version in evicted if not isinstance(version, VersionInfo)]:
        return f"{odd[0]!r}, which is not a VersionInfo"
    ids = {version.id for version in evicted}
    if len(ids) != len(evicted):
        return "the same version twice"
    if ids and (unknown := ids - _known(ids, state)):
        return f"the version {min(unknown)!r}, which is not in the collection"
    if not state.has_room(incoming, without=evicted):
        return f"{len(evicted)} versions, without which the new one does not fit"
    return ""


def _known(ids: set[str], state: CollectionState) -> set[str]:
    """Return those of the ids that the collection has, without a look at more versions than needed."""
    found: set[str] = set()
    for version in state.versions:
        if version.id in ids:
            found.add(version.id)
            if len(found) == len(ids):
                break
    return found
