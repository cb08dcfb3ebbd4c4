"""Lets the database count again how its tables are filled. It plans queries with these statistics."""

from collections.abc import Callable

from .models import Base
from .transactions import Database

# How many rows of each index SQLite reads at most; without the limit it reads them all.
_SQLITE_LIMIT = 1000


def refresh_statistics(database: Database, *, keep_going: Callable[[], None] = lambda: None) -> int:
    """Analyse all tables of frepo; return their number. `keep_going` is called before each table."""
    name = database.engine.dialect.name
    tables = [table.name for table in Base.metadata.sorted_tables]
    quote = database.engine.dialect.identifier_preparer.quote
    verb = "ANALYZE TABLE" if name in {"mysql", "mariadb"} else "ANALYZE"
    with database.autocommit() as connection:
        if name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA analysis_limit={_SQLITE_LIMIT}")
        for table in tables:
            keep_going()
            connection.exec_driver_sql(f"{verb} {quote(table)}").close()
        if name == "sqlite":
            connection.exec_driver_sql("PRAGMA optimize").close()
    return len(tables)
