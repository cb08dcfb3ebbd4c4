"""The declaration of a plug-in's own tables in the database of the service."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The tables of a plug-in.

    - `models`: the base of its models, made with `PluginTables` of `frepo_core.tables`.
    - `migrations`: the folder with the revisions for Alembic, such as `0001_tables.py`. The revision is the number in
      the name. There is one chain, without branches, for this plug-in alone; no `env.py` and no ini file are needed.

    The start, `frepo doctor` and `frepo_service` refuse a model with a table or a column that no revision has made.
    """

    models: Any
    migrations: Path
