"""The databases of a machine: opened, backed up each night, restored by an operator, and lost."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy.engine import make_url

from support.dumps.programs import run


class Kept(Protocol):
    """A database that outlives the services that use it."""

    def open(self) -> Any:
        """Return services over an empty database."""

    def back_up(self) -> None:
        """Back it up, in place of an earlier backup."""

    def restart(self, services: Any, *, restored: bool) -> Any:
        """Stop the services; return new ones over the backup, or over an empty database."""


class SqliteFile:
    """A database in a file. `opens` opens services over a new one in a folder."""

    def __init__(self, folder: Path, opens: Callable[[Path], Any]) -> None:
        self._folder, self._opens, self._backup = folder, opens, folder / "backup"

    def open(self) -> Any:
        """See `Kept`."""
        return self._opens(self._folder)

    def back_up(self) -> None:
        """See `Kept`."""
        self._backup.unlink(missing_ok=True)
        source, target = sqlite3.connect(self._folder / "frepo.db"), sqlite3.connect(self._backup)
        source.backup(target)
        source.close()
        target.close()

    def restart(self, services: Any, *, restored: bool) -> Any:
        """See `Kept`."""
        services.database.engine.dispose()
        for path in self._folder.glob("frepo.db*"):
            path.unlink()
        new = self._opens(self._folder)
        if restored:
            new.database.engine.dispose()
            shutil.copy(self._backup, self._folder / "frepo.db")
        return new


class PostgresqlServer:
    """The database of a server, with `pg_dump` and `pg_restore`. `opens` opens services over it, `empty` empties it."""

    def __init__(self, folder: Path, url: str, opens: Callable[[], Any], empty: Callable[[], object]) -> None:
        self._backup, self._url, self._opens, self._empty = folder / "backup", make_url(url), opens, empty

    def open(self) -> Any:
        """See `Kept`."""
        return self._opens()

    def back_up(self) -> None:
        """See `Kept`."""
        self._run("pg_dump", "-Fc", "-f", str(self._backup))

    def restart(self, services: Any, *, restored: bool) -> Any:
        """See `Kept`."""
        services.database.engine.dispose()
        if restored:
            self._run("pg_restore", "--clean", "--single-transaction", "-d", str(self._url.database), str(self._backup))
        else:
            self._empty()
        new = self._opens()
        new.database._clock_query = None  # it lives in the time of the history
        return new

    def _run(self, program: str, *options: str) -> None:
        url = self._url
        where = ["-h", str(url.host), "-p", str(url.port), "-U", str(url.username)]
        database = [str(url.database)] if program == "pg_dump" else []
        run(program, *where, *options, *database, PGPASSWORD=str(url.password))
