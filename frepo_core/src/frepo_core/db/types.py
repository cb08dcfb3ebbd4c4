"""Column types that behave the same on SQLite, PostgreSQL and MariaDB."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, String, TypeDecorator


def utc_now() -> datetime:
    """Return the current time (aware, UTC)."""
    return datetime.now(UTC)


class UtcDateTime(TypeDecorator[datetime]):
    """Aware times in UTC with microseconds. They are stored without a zone, so that no server's zone can shift them."""

    impl = DateTime
    cache_ok = True

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


def exact(length: int) -> String:
    """Return a text type that compares byte by byte. MariaDB's default treats `a` and `A` as equal."""
    return String(length).with_variant(String(length, collation="utf8mb4_bin"), "mysql", "mariadb")


# SQLite increments only columns of the type INTEGER.
RowId = BigInteger().with_variant(Integer(), "sqlite")
