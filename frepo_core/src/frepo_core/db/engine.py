"""Makes the database engine: reads the URL, and configures SQLite for concurrent and durable writes."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, InvalidatePoolError, NoSuchModuleError
from sqlalchemy.pool import NullPool, PoolResetState

from frepo_core.errors import ConfigurationError

from .waiting.connections import watch_connections
from .waiting.patience import trying
from .waiting.timeouts import LIFTED, SessionLimits, Timeouts
from .waiting.watch import Watch

try:
    import sqlite3

    from .sqlite.begin_mode import BeginningConnection, add_begin_mode
    from .sqlite.private_file import make_files_private
    from .sqlite.reserve import LOANS, Reserve, lacks_space
    from .sqlite.writer_pool import WriterPool
except ModuleNotFoundError as missing:
    if missing.name != "_sqlite3":
        raise
    raise ConfigurationError(
        "This Python was built without SQLite (_sqlite3). Use another one, for example that of your distribution."
    ) from missing

_DRIVERS = {
    "sqlite": "sqlite",
    "pdo_sqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "pgsql": "postgresql+psycopg",
    "pdo_pgsql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mysql+pymysql",
    "pdo_mysql": "mysql+pymysql",
}
BUSY_SECONDS = 15
POOL_SECONDS = 5
FRESH_SECONDS = 1
PING_SECONDS = 1.5


def normalize_url(text: str, driver: str = "") -> URL:
    """Parse a database URL. Short names of databases and the old pdo_* drivers are accepted.

    Raises `ConfigurationError` if the text is not a URL, or names a database that frepo does not support.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # a port that is not a number raises ValueError
        raise ConfigurationError("database.url (DATABASE_URL) is not a database URL") from None
    name = (driver or url.drivername).lower()
    name = _DRIVERS.get(name, name)
    if name.partition("+")[0] not in {"sqlite", "postgresql", "mysql", "mariadb"}:
        raise ConfigurationError(
            f"database.url or database.driver names {name!r}; frepo knows sqlite, postgresql, mysql and mariadb"
        )
    url = url.set(drivername=name)
    if name.startswith(("mysql", "mariadb")):
        url = url.update_query_dict({"charset": "utf8mb4"})
    return url


def public_url(url: URL) -> str:
    """Return the URL for messages: without its password and its query, and with the whole path of an SQLite file."""
    if url.drivername.startswith("sqlite") and url.database and not url.database.startswith("file:"):
        url = url.set(database=str(Path(url.database).absolute()))
    return url.set(query={}).render_as_string(hide_password=True)


def make_engine(text: str, driver: str = "", timeouts: Timeouts | None = None) -> Engine:
    """Make the engine without connecting. Raises `ConfigurationError` for an invalid URL or a missing driver.

    `timeouts` are those of connections to a server.
    """
    url, timeouts = normalize_url(text, driver), timeouts or Timeouts()
    engine = _create(url, _options_of(url, timeouts))
    dialect: Any = engine.dialect
    dialect.session_limits, dialect.watch = SessionLimits(timeouts, url), Watch(lambda: None)
    if dialect.name == "sqlite":
        _configure_sqlite(engine)
    else:
        dialect.watch = _make_watch(url, timeouts)
        watch_connections(engine, dialect.watch, timeouts)
        _check_idle_connections(engine)
    _roll_back_on_return(engine)
    return engine


def session_limits_of(engine: Engine) -> SessionLimits:
    """Return what lifts the timeouts of an engine's connections."""
    dialect: Any = engine.dialect
    limits: SessionLimits = dialect.session_limits
    return limits


def _make_watch(url: URL, timeouts: Timeouts) -> Watch:
    """Return a watch whose probe makes a connection of its own: those of the pool may be what hangs."""
    engine = _create(url, {"hide_parameters": True, "poolclass": NullPool})

    def probe() -> None:
        with engine.connect() as connection:
            connection.exec_driver_sql("SELECT 1")

    watch = Watch(probe)
    watch_connections(engine, watch, timeouts, is_probe=True)
    return watch


def _options_of(url: URL, timeouts: Timeouts) -> dict[str, Any]:
    """Return the options of the engine. Raises `ConfigurationError` if the URL names no database."""
    options: dict[str, Any] = {
        "hide_parameters": True,
        "pool_size": 20,
        "max_overflow": 20,
        "pool_timeout": POOL_SECONDS,
    }
    if url.drivername.startswith("sqlite"):
        if not url.database or ":memory:" in url.database or url.query.get("mode") == "memory":
            raise ConfigurationError("database.url (DATABASE_URL): SQLite needs a file, e.g. sqlite:///frepo.db")
        driver_options = {"timeout": BUSY_SECONDS, "check_same_thread": False, "factory": BeginningConnection}
        options |= {"connect_args": driver_options, "poolclass": WriterPool}
    elif url.drivername.startswith("postgresql"):
        # A statement that the driver prepares may get one plan for all values: for a tag that each file has, and for
        # one that few have.
        options["connect_args"] = {"prepare_threshold": None, **timeouts.driver_options(url)}
    elif url.drivername.startswith(("mysql", "mariadb")):
        if not url.database:
            raise ConfigurationError(
                "database.url (DATABASE_URL) names no database, e.g. mysql://user:password@host/frepo"
            )
        options |= {"isolation_level": "READ COMMITTED", "pool_recycle": 3600}
        options["connect_args"] = timeouts.driver_options(url)
    return options


def _create(url: URL, options: Mapping[str, Any]) -> Engine:
    """Create the engine. Raises `ConfigurationError` if the driver is unknown or missing."""
    try:
        return create_engine(url, **options)
    except NoSuchModuleError:
        raise ConfigurationError(
            f"database.url or database.driver names {url.drivername!r}, a driver that SQLAlchemy does not know"
        ) from None
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"The driver for {url.drivername} is not installed: pip install "
            f"'frepo-core[{'postgresql' if 'postgresql' in url.drivername else 'mysql'}]'"
        ) from error


def _check_idle_connections(engine: Engine) -> None:
    """Let the pool replace connections that the server has closed while they were idle.

    SQLAlchemy's `pool_pre_ping` asks the server each time a connection is taken, which takes as long as a query. A
    connection that was used a moment ago need not be checked. MariaDB's are checked each time: the driver sends a
    statement to set the isolation level, and SQLAlchemy does not see that it failed.
    """
    is_postgresql = engine.dialect.name == "postgresql"

    @event.listens_for(engine, "connect")
    @event.listens_for(engine, "checkin")
    def note_use(connection: Any, record: Any) -> None:
        record.info["used_at"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def check(connection: Any, record: Any, proxy: Any) -> None:
        if is_postgresql and time.monotonic() - record.info["used_at"] < FRESH_SECONDS:
            return
        try:
            with trying(PING_SECONDS):
                engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError from error


def _roll_back_on_return(engine: Engine) -> None:
    """Make sure that no connection returns to the pool with an open transaction, or without its limits."""
    limits = session_limits_of(engine)

    @event.listens_for(engine, "reset")
    def reset(connection: Any, record: Any, state: PoolResetState) -> None:
        # A failed COMMIT may leave the transaction open although SQLAlchemy considers it ended. The next user of the
        # connection would fail, or commit the changes of another request.
        if state.terminate_only:
            return
        are_lifted = LIFTED in record.info
        if state.transaction_was_reset or are_lifted:
            connection.rollback()
        if are_lifted:
            limits.restore(connection, record.info)


def _prepare(connection: Any) -> None:
    for pragma in (
        "foreign_keys=ON",
        f"busy_timeout={BUSY_SECONDS * 1000}",
        "journal_mode=WAL",
        "synchronous=FULL",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _configure_sqlite(engine: Engine) -> None:
    """Configure SQLite: foreign keys, a write-ahead log, durable commits, and locks at the start of transactions."""

    @event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # the driver must not begin transactions by itself
        try:
            _prepare(connection)
        except sqlite3.OperationalError as error:
            # The first connection creates files next to the database, which fails on a full disk.
            reserve = Reserve.of(engine)
            if reserve is None or not lacks_space(error):
                raise
            with reserve.released(LOANS[0]):
                _prepare(connection)

    make_files_private(engine)
    add_begin_mode(engine)
