"""Column types that behave alike on SQLite, PostgreSQL and MariaDB."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, String, TypeDecorator


def utc_now() -> datetime:
    """Return the time now, aware and in UTC."""
    return datetime.now(UTC)


class UtcDateTime(TypeDecorator[datetime]):
    """Aware times in UTC, with microseconds; stored without a zone, so that no server's zone can shift them."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """Ask MariaDB for microseconds, which its DATETIME leaves out by default."""
        if dialect.name not in {"mysql", "mariadb"}:
            return dialect.type_descriptor(DateTime())
        from sqlalchemy.dialects import mysql  # the others need not wait for it

        return dialect.type_descriptor(mysql.DATETIME(fsp=6))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store UTC without its zone."""
        return value.astimezone(UTC).replace(tzinfo=None) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back."""
        return value.replace(tzinfo=UTC) if value else None


def exact(length: int) -> String:
    """Return a text type that compares byte by byte, as MariaDB's default takes `a` and `A` for equal."""
    return String(length).with_variant(String(length, collation="utf8mb4_bin"), "mysql", "mariadb")


# SQLite counts up only what is called INTEGER.
RowId = BigInteger().with_variant(Integer(), "sqlite")
