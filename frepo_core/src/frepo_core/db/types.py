"""Column types that behave the same on SQLite, PostgreSQL and MariaDB."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Integer, String, TypeDecorator

_simulated: ContextVar[datetime | None] = ContextVar("simulated", default=None)


def utc_now() -> datetime:
    """Return the current time (aware, UTC), or that of `simulated_time` in its context."""
    return _simulated.get() or datetime.now(UTC)


def is_simulated() -> bool:
    """Return whether `simulated_time` applies here."""
    return _simulated.get() is not None


@contextlib.contextmanager
def simulated_time(moment: datetime) -> Iterator[None]:
    """Make `utc_now` return this moment (aware) in the body of the `with` statement, and in no other thread or task.

    For a service that is filled with a history. Files and log lines keep the real time.
    """
    token = _simulated.set(moment)
    try:
        yield
    finally:
        _simulated.reset(token)


class UtcDateTime(TypeDecorator[datetime]):
    """Aware times in UTC with microseconds. They are stored without a zone, so that no server's zone can shift them."""

    impl = DateTime
    cache_ok = True

    @property
    def python_type(self) -> type[datetime]:
        """Return what its values are."""
        return datetime

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """Return a type with microseconds, which MariaDB's DATETIME omits by default."""
        if dialect.name not in {"mysql", "mariadb"}:
            return dialect.type_descriptor(DateTime())
        from sqlalchemy.dialects import mysql  # not needed for other databases

        return dialect.type_descriptor(mysql.DATETIME(fsp=6))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC and remove the zone."""
        return value.astimezone(UTC).replace(tzinfo=None) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Add the zone UTC."""
        return value.replace(tzinfo=UTC) if value else None


class JsonObject(JSON):
    """An object as JSON. Of `JSON` itself nobody knows what it has: a recovery recognises a wrong value by this."""

    @property
    def python_type(self) -> type[dict[str, Any]]:
        """Return what its values are."""
        return dict


class JsonList(JSON):
    """A list as JSON."""

    @property
    def python_type(self) -> type[list[Any]]:
        """Return what its values are."""
        return list


class JsonTexts(JsonList):
    """A list of texts as JSON."""


def exact(length: int) -> String:
    """Return a text type that compares byte by byte. MariaDB's default treats `a` and `A` as equal."""
    return String(length).with_variant(String(length, collation="utf8mb4_bin"), "mysql", "mariadb")


# SQLite increments only columns of the type INTEGER.
RowId = BigInteger().with_variant(Integer(), "sqlite")
