"""A collection as it would be after a change of its limits, guards and strategy, for edits and previews."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.domain.backups.locks import check_lock
from frepo_core.domain.limits import Limits, check_limits
from frepo_core.errors import FieldsError
from frepo_core.plugins import IncomingVersion
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import Settings

from ...base.records import CollectionRecord
from ..rotation.newest_size import find_newest_size
from ..rotation.questions import Question
from ..rotation.strategies import Strategies
from ..rotation.strategy_options import check_options
from ..rows.collection_change import CollectionChange
from .collection_permissions import apply_all


def service_limits(settings: Settings) -> Limits:
    """Return the limits of the service: the defaults of new collections, and the most that a collection may have."""
    return Limits(
        versions=settings.backup_max_versions,
        version_size=settings.backup_one_version_max_size,
        total_size=settings.backup_collection_max_size,
    )


def planned(
    current: CollectionRecord, change: CollectionChange, *, plugins: PluginRegistry, ceilings: Limits
) -> CollectionRecord:
    """Return the collection with the limits, guards, strategy and options of the change.

    Options that do not fit their strategy any more stay, unless the strategy or the options are changed.
    Raises `FieldsError` and `RuleError`.
    """
    check_strategy(plugins, change.strategy)
    limits = replace(current.limits, **change.limits)
    apply_all(
        lambda: check_limits(limits, ceilings=ceilings, requested=change.limits, stored=current.stored_size),
        lambda: _planned_strategy(current, change, plugins),
    )
    strategy, options = _planned_strategy(current, change, plugins)
    guards = replace(current.guards, **change.guards)
    if change.locked is not None:
        check_lock(current.locked, change.locked)
        current = replace(current, locked=change.locked)
    return replace(current, limits=limits, strategy=strategy, strategy_options=options, guards=guards)


def _planned_strategy(
    current: CollectionRecord, change: CollectionChange, plugins: PluginRegistry
) -> tuple[str, Mapping[str, Any] | None]:
    """Return the name of the strategy, and its options. Raises `FieldsError`."""
    if change.strategy in {None, current.strategy} and change.strategy_options is None:
        return current.strategy, current.strategy_options
    strategy = change.strategy or current.strategy
    check_strategy(plugins, strategy)
    return strategy, check_options(plugins, strategy, change.strategy_options)


def changes_rotation(before: CollectionRecord, after: CollectionRecord) -> bool:
    """Return whether an edit can change which versions the next upload evicts."""
    return _rotation(before) != _rotation(after)


def may_change_rotation(change: CollectionChange) -> bool:
    """Return whether `changes_rotation` can be true after this change."""
    return bool(
        change.limits or change.guards or change.strategy or change.strategy_options is not None or change.locked
    )


def question_about(strategies: Strategies, collection_id: str, change: CollectionChange, ceilings: Limits) -> Question:
    """Return the question to the strategy of a collection what its next upload would evict after this change."""

    def make_incoming(session: Session, collection: CollectionRecord) -> IncomingVersion | None:
        size = find_newest_size(session, collection.id)
        return None if size is None else IncomingVersion(size=size, created_at=utc_now())

    def plan(current: CollectionRecord) -> CollectionRecord:
        return planned(current, change, plugins=strategies.plugins, ceilings=ceilings)

    return Question(strategies, collection_id, make_incoming, plan=plan)


def _rotation(record: CollectionRecord) -> tuple[object, ...]:
    return record.limits, record.strategy, record.strategy_options, record.guards.min_retention, record.locked


def strategy_problem(plugins: PluginRegistry, name: str) -> str | None:
    """Return the text of the refusal of a strategy that no installed package brings, None for a known one."""
    if name in plugins.strategies:
        return None
    return "unknown_strategy_allowed___" + "___or__".join(sorted(plugins.strategies))


def check_strategy(plugins: PluginRegistry, name: str | None) -> None:
    """Raise `FieldsError` for a strategy that no installed package brings."""
    if name is not None and (problem := strategy_problem(plugins, name)):
        raise FieldsError({"strategy": [problem]}, FieldsError.FORM)
