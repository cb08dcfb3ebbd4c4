"""The database: engine, transactions, models and migrations."""

from . import alias_models, upkeep_models, worker_models  # noqa: F401  # add their tables to the metadata of all models
from .engine import make_engine
from .transactions import Database
from .types import utc_now

__all__ = ["Database", "make_engine", "utc_now"]
