"""Finds collections whose strategy is not installed, or whose options do not fit it."""

from collections.abc import Collection as Names
from collections.abc import Iterator

from sqlalchemy import func, select

from frepo_core.db import Database
from frepo_core.db.models import Collection
from frepo_core.plugins.registry import PluginRegistry

from .strategy_options import options_problem

MOST_NAMED = 3


def find_missing_strategies(database: Database, installed: Names[str]) -> Iterator[str]:
    """Yield a sentence for each strategy that collections use and that is not among the installed ones.

    It says how many collections use it, and names the first of them. Raises `DatabaseUnavailableError`.
    """
    with database.reading() as session:
        missing = Collection.strategy.not_in(installed)
        counts = session.execute(
            select(Collection.strategy, func.count()).where(missing).group_by(Collection.strategy)
        ).all()
        for strategy, count in sorted((str(name), int(count)) for name, count in counts):
            query = select(Collection.id).where(Collection.strategy == strategy).order_by(Collection.id)
            named = ", ".join(session.scalars(query.limit(MOST_NAMED)))
            more = f" and {count - MOST_NAMED} more" if count > MOST_NAMED else ""
            yield (
                f"No installed package provides the strategy {strategy!r}, so uploads to the collections that use it "
                f"are answered with 503: {named}{more}"
            )


def find_misfits(database: Database, plugins: PluginRegistry) -> Iterator[str]:
    """Yield which options of a collection do not fit its strategy, as a sentence without its end.

    Raises `DatabaseUnavailableError`.
    """
    with_options = [name for name, spec in plugins.strategies.items() if spec.options is not None]
    query = select(Collection.id, Collection.strategy, Collection.strategy_options)
    query = query.where(Collection.strategy.in_(with_options), Collection.strategy_options.is_not(None))
    with database.reading() as session:
        for row in session.execute(query.order_by(Collection.id)):
            if problem := options_problem(plugins, row.id, row.strategy, row.strategy_options):
                yield problem
