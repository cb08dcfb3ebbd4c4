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

    - `is_recovered`: `frepo recover` brings the rows back, to the last minute. Each row that a `store.transaction`
      changes is copied in the same transaction, and the copy is in the journal and in the catalogues, under the name of
      the plug-in and the revision. If the package is not there at the recovery, the copies are kept until it is. Rows
      are changed by models only: a statement such as `update(Wall)` raises `ValueError`. Columns are numbers, texts,
      truth values, times, or JSON. Rows from before this was set are copied when they change.

    The start, `frepo doctor` and `frepo_service` refuse a model with a table or a column that no revision has made.
    """

    models: Any
    migrations: Path
    is_recovered: bool = False
