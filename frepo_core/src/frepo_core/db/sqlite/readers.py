"""Runs single queries on connections of SQLite that stay out of the pool between them.

To take one from the pool, begin and return it takes longer than most queries.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, Row, Select

from ..prepared_statements import fetch
from .writer_pool import WriterPool

MAX_KEPT = 4


def read(engine: Engine, query: "Select[*tuple[Any, ...]]", values: Mapping[str, Any]) -> Sequence[Row[Any]]:
    """Return the rows of a query outside of a transaction: it sees the last commit."""
    pool: WriterPool = engine.pool  # type: ignore[assignment]
    try:
        connection = pool.readers.pop()
    except IndexError:
        connection = engine.connect().execution_options(sqlite_begin="")
    try:
        rows = fetch(connection, query, values) if values else connection.execute(query).all()
    except BaseException:
        connection.close()
        raise
    if engine.pool is pool and len(pool.readers) < MAX_KEPT:
        pool.readers.append(connection)
    else:
        connection.close()
    return rows
