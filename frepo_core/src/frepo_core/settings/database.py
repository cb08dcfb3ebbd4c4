"""The settings of the database, and how long it is waited for."""

from pydantic import BaseModel, SecretStr

from .declaration import harmless, setting
from .types import Seconds, Size


class DatabaseSettings(BaseModel, defer_build=True):
    """The settings whose names begin with `database.`."""

    database_url: SecretStr = setting(
        "database.url",
        "sqlite:///frepo.db",
        "SQLAlchemy URL. `postgres://` and `mysql://` are also accepted. Required in `prod`.",
    )
    database_driver: str = harmless(
        "database.driver",
        "",
        "Driver that replaces the URL's: sqlite, postgresql, mysql, or an old pdo_* name.",
    )
    database_auto_upgrade: bool = setting(
        "database.auto_upgrade",
        False,
        "Migrate the database at start. Otherwise the service refuses to start with an old schema.",
    )

    database_reserve: Size = setting(
        "database.reserve",
        "16MiB",
        "SQLite only: disk space next to the database that is reserved for deletions on a full disk; 0: none.",
    )
    database_lock_timeout: float = setting(
        "database.lock_timeout",
        10.0,
        "Not SQLite: how many seconds a statement waits for a lock of another transaction; 0: no limit.",
        ge=0,
        le=86400,
    )
    database_statement_timeout: float = setting(
        "database.statement_timeout",
        10.0,
        "Not SQLite: how many seconds a statement of a request may run in the database; 0: no limit.",
        ge=0,
        le=86400,
    )
    database_max_wait: Seconds = setting(
        "database.max_wait",
        15.0,
        "How many seconds a request waits for the database in all, before it is answered 503.",
    )
    database_max_wait_stored: Seconds = setting(
        "database.max_wait_stored",
        120.0,
        "The same for an upload of more than 64 MiB whose content has arrived, for at most 8 of them at a time.",
    )
