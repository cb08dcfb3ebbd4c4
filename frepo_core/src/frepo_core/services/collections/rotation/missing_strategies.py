"""Finds collections that accept no versions, because no installed package provides their strategy."""

from collections.abc import Collection as Names
from collections.abc import Iterator

from sqlalchemy import func, select

from frepo_core.db import Database
from frepo_core.db.models import Collection

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
