"""The database: engine, transactions, models and migrations."""

from .engine import make_engine
from .transactions import Database
from .types import utc_now

__all__ = ["Database", "make_engine", "utc_now"]
