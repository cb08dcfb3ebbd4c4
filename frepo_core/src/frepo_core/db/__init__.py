"""The database: engine, transactions, models and migrations."""

from .engine import make_engine
from .transactions import Database
from .types import simulated_time, utc_now
from .waiting.timeouts import Timeouts

__all__ = ["Database", "Timeouts", "make_engine", "simulated_time", "utc_now"]
