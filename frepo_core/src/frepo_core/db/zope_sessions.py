"""Joins sessions to zope's transactions. Its package would import each database driver that is installed.

It needs them to decide which errors to retry, and `Database` decides that itself. They take 17 MB in each process, and
an eighth of the time of a command.
"""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import transaction
from sqlalchemy.orm import sessionmaker

_DRIVERS = ("psycopg", "psycopg2", "cx_Oracle", "pymysql")


@contextlib.contextmanager
def _not_importable(names: tuple[str, ...]) -> Iterator[None]:
    """Make imports of these modules fail, as if they were not installed. Modules that are imported already stay."""
    hidden: dict[str, Any] = {name: None for name in names if name not in sys.modules}
    sys.modules.update(hidden)
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


with _not_importable(_DRIVERS):
    import zope.sqlalchemy
    from zope.sqlalchemy.datamanager import STATUS_CHANGED


def join_transactions(sessions: "sessionmaker[Any]", manager: transaction.TransactionManager) -> None:
    """Let the manager's transactions commit the sessions, which count as changed from their start.

    Otherwise statements on tables would be rolled back: only the ORM marks a session as changed.
    """
    zope.sqlalchemy.register(sessions, initial_state=STATUS_CHANGED, transaction_manager=manager)
