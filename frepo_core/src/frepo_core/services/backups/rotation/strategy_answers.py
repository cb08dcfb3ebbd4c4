"""Calls the strategy of a plug-in and checks its answer; an error names the plug-in's package."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from frepo_core.errors import FrepoError, InvalidAnswerError, PluginError
from frepo_core.plugins import CollectionFull, CollectionState, IncomingVersion, VersionInfo
from frepo_core.plugins.registry import PluginRegistry

from ...base.plugin_failures import PLUGIN_FAILURES, raise_interrupt
from ...base.records import CollectionRecord, collection_info, plugin_guards


def described(state: CollectionState, record: CollectionRecord | None) -> CollectionState:
    """Return the state with what a strategy is told of the collection itself; None for one that is imagined."""
    if record is None:
        return state
    return replace(state, collection=collection_info(record), guards=plugin_guards(record.guards))


def call_strategy(
    plugins: PluginRegistry,
    name: str,
    state: CollectionState,
    incoming: IncomingVersion,
    *,
    collection_id: str | None,
) -> list[VersionInfo]:
    """Return the versions that the strategy evicts. `collection_id` is for messages.

    Raises `CollectionFull`, `ConfigurationError` if no package provides the strategy, `InvalidAnswerError` if the
    answer is invalid, and `PluginError` if the strategy fails.
    """
    strategy = plugins.strategy(name, collection_id=collection_id)
    try:
        answer: Any = strategy.make_room(state, incoming)
        evicted = list(answer)
    except (CollectionFull, FrepoError, SQLAlchemyError):  # reading `state.versions` can raise the database's errors
        raise
    except PLUGIN_FAILURES as error:
        raise_interrupt(error)
        origin = plugins.strategy_origin(name)
        raise PluginError(f"{origin} failed in make_room(): {type(error).__name__}: {error}") from error
    if problem := _problem(evicted, state, incoming):
        raise InvalidAnswerError(f"{plugins.strategy_origin(name)} answered make_room() with {problem}")
    return evicted


def call_explain(
    plugins: PluginRegistry, name: str, state: CollectionState, ids: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return the names of the rules that keep the versions with these ids; none if the strategy does not explain them.

    Raises `PluginError` if the strategy fails, or if its answer is not a mapping of ids to texts.
    """
    try:
        answer = plugins.strategy(name).explain(state)
        rules = {version: tuple(answer.get(version, ())) for version in ids}
    except PLUGIN_FAILURES as error:
        raise_interrupt(error)
        origin = plugins.strategy_origin(name)
        raise PluginError(f"{origin} failed in explain(): {type(error).__name__}: {error}") from error
    if not all(isinstance(one, str) for names in rules.values() for one in names):
        raise PluginError(f"{plugins.strategy_origin(name)} answered explain() with names of rules that are not texts")
    return rules


def _problem(evicted: list[Any], state: CollectionState, incoming: IncomingVersion) -> str:
    """Return what is wrong with an answer; an empty text if it is valid."""
    if wrong := [version for version in evicted if not isinstance(version, VersionInfo)]:
        return f"{wrong[0]!r}, which is not a VersionInfo"
    ids = {version.id for version in evicted}
    if len(ids) != len(evicted):
        return "the same version twice"
    if ids and (unknown := ids - _known(ids, state)):
        return f"the version {min(unknown)!r}, which is not in the collection"
    if not state.has_room(incoming, without=evicted):
        return f"{len(evicted)} versions, without which the new one does not fit"
    return ""


def _known(ids: set[str], state: CollectionState) -> set[str]:
    """Return those of the ids that the collection contains. Stops loading versions once all are found."""
    found: set[str] = set()
    for version in state.versions:
        if version.id in ids:
            found.add(version.id)
            if len(found) == len(ids):
                break
    return found
