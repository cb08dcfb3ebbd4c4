"""The database: engine, transactions, models and migrations."""

from .engine import make_engine
from .transactions import Database
from .types import simulated_time, utc_now

__all__ = ["Database", "make_engine", "simulated_time", "utc_now"]
