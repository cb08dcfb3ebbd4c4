"""The timeouts of connections to PostgreSQL and MariaDB, set by the options of their drivers."""

import math
import socket
from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import URL

from frepo_core.domain.structs import struct

_KEEPALIVES = 3
Limit = Literal["lock", "statement", "idle"]
_LIMITS: Mapping[str, Limit] = {
    "lock_timeout": "lock",
    "innodb_lock_wait_timeout": "lock",
    "statement_timeout": "statement",
    "max_statement_time": "statement",
    "idle_in_transaction_session_timeout": "idle",
    "idle_transaction_timeout": "idle",
}
_NO_LOCK_TIMEOUT = {"innodb_lock_wait_timeout": 1 << 30}  # 0 would be: do not wait
_MARIADB_ONLY = frozenset({"max_statement_time", "idle_transaction_timeout"})
LIFTED = "lifted"  # key of the information about a connection in the pool


@struct
class Timeouts:
    """In seconds; 0: no limit.

    `lock`: how long a statement waits for a lock. `statement`: how long it runs. `idle`: how long a transaction may do
    nothing before the server ends it. `network`: how long a connection to a host that does not answer is kept.
    """

    lock: float = 0
    statement: float = 0
    idle: float = 0
    network: float = 0

    def driver_options(self, url: URL) -> dict[str, Any]:
        """Return the options of the driver for a server. Those in the URL have precedence."""
        variables = self.variables(url)
        if _is_postgresql(url):
            own = url.query.get("options", ())
            settings = [f"-c {name}={value}" for name, value in variables.items()]
            text = " ".join([*settings, *([own] if isinstance(own, str) else own)])
            options = {**self._postgresql_network(), **({"options": text} if settings else {})}
            return {name: value for name, value in options.items() if name == "options" or name not in url.query}
        return {"init_command": _mysql_statement(variables)} if variables else {}

    def variables(self, url: URL) -> dict[str, int]:
        """Return the server's variables and values for a session. None is set if MariaDB's URL has `init_command`."""
        if url.drivername.startswith("sqlite") or "init_command" in url.query:
            return {}
        if _is_postgresql(url):
            milliseconds = {
                "lock_timeout": self.lock,
                "statement_timeout": self.statement,
                "idle_in_transaction_session_timeout": self.idle,
            }
            return {name: math.ceil(seconds * 1000) for name, seconds in milliseconds.items() if seconds}
        seconds = {
            "innodb_lock_wait_timeout": self.lock,
            "max_statement_time": self.statement,
            "idle_transaction_timeout": self.idle,
            "net_read_timeout": self.network,
        }
        return {name: math.ceil(value) for name, value in seconds.items() if value}

    def socket_options(self) -> Mapping[int, int]:
        """Return the TCP options that close a connection after `network` seconds without an answer."""
        if not self.network:
            return {}
        part = max(int(self.network / (_KEEPALIVES + 1)), 1)
        return {
            socket.TCP_KEEPIDLE: part,
            socket.TCP_KEEPINTVL: part,
            socket.TCP_KEEPCNT: _KEEPALIVES,
            socket.TCP_USER_TIMEOUT: math.ceil(self.network * 1000),
        }

    def apply(self, connection: socket.socket) -> None:
        """Set the TCP options of a connection whose driver has no option for them."""
        if connection.family != socket.AF_UNIX:
            for option, value in self.socket_options().items():
                connection.setsockopt(socket.IPPROTO_TCP, option, value)

    def _postgresql_network(self) -> dict[str, int]:
        names = {socket.TCP_KEEPIDLE: "keepalives_idle", socket.TCP_KEEPINTVL: "keepalives_interval"}
        names |= {socket.TCP_KEEPCNT: "keepalives_count", socket.TCP_USER_TIMEOUT: "tcp_user_timeout"}
        return {names[option]: value for option, value in self.socket_options().items()}


class SessionLimits:
    """Lifts the limits of a connection for as long as it is out of the pool: they are for requests."""

    def __init__(self, timeouts: Timeouts, url: URL) -> None:
        self._is_postgresql = _is_postgresql(url)
        self._variables = timeouts.variables(url)

    def wanted(self) -> Mapping[str, str]:
        """Return the limits that a connection should have, with their units."""
        unit = " ms" if self._is_postgresql else " s"
        return {name: f"{value}{unit}" for name, value in self._variables.items()}

    def read(self, connection: Any) -> Mapping[str, str]:
        """Return the limits that a connection has, with their units. `connection` is that of SQLAlchemy."""
        found = {}
        for name, wanted in self.wanted().items():
            if self._is_postgresql:
                query = f"SELECT setting || ' ' || unit FROM pg_settings WHERE name = '{name}'"
                found[name] = str(connection.exec_driver_sql(query).scalar())
            elif row := connection.exec_driver_sql(f"SHOW SESSION VARIABLES LIKE '{name}'").first():
                found[name] = f"{float(row[1]):g}{wanted[wanted.index(' ') :]}"
        return found

    def lift(self, connection: Any, *limits: Limit) -> None:
        """Lift limits. `connection` is that of SQLAlchemy, and has no transaction."""
        lifted = {name: value for name, value in self._variables.items() if _LIMITS.get(name) in limits}
        if lifted and LIFTED not in connection.info:
            none = {name: _NO_LOCK_TIMEOUT.get(name, 0) for name in lifted}
            self._set(connection.connection.dbapi_connection, none)
            connection.info[LIFTED] = lifted

    def restore(self, connection: Any, info: dict[str, Any]) -> None:
        """Set the limits again that were lifted. `connection` is that of the driver, without a transaction."""
        self._set(connection, info.pop(LIFTED), is_again=True)

    def _set(self, connection: Any, values: Mapping[str, int], *, is_again: bool = False) -> None:
        with connection.cursor() as cursor:
            if not self._is_postgresql:
                cursor.execute(_mysql_statement(values))
                return
            # A rollback of the transaction would undo it. RESET sets what the URL says, too.
            is_autocommit, connection.autocommit = connection.autocommit, True
            texts = [f"RESET {name}" if is_again else f"SET {name} = {value}" for name, value in values.items()]
            cursor.execute("; ".join(texts))
            connection.autocommit = is_autocommit


def _is_postgresql(url: URL) -> bool:
    return url.drivername.startswith("postgresql")


def _mysql_statement(variables: Mapping[str, int]) -> str:
    """Return a statement that sets variables. MySQL reads those that only MariaDB has as a comment."""
    common = [f"{name}={value}" for name, value in variables.items() if name not in _MARIADB_ONLY]
    own = "".join(f", {name}={value}" for name, value in variables.items() if name in _MARIADB_ONLY)
    first = ", ".join(common or ["net_read_timeout=@@net_read_timeout"])
    return f"SET SESSION {first}" + (f" /*M!100300 {own} */" if own else "")
