"""The table of the runs of backup jobs that clients have reported."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from ..types import RowId, exact
from .base import Base


class Run(Base):
    """A run of a backup job, as its client has reported it at `at`. The newest ones of each collection are kept.

    `outcome` is `ok`, `failed` or `skipped`. `started_at` is by the clock of the client. `version_number` is the
    version that the run is about. `actor` is as in an event. There is no foreign key: a deleted collection can be
    restored.
    """

    __tablename__ = "run"
    __table_args__ = (Index("ix_run_incarnation", "incarnation", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    incarnation: Mapped[str] = mapped_column(exact(36))
    at: Mapped[datetime] = mapped_column(index=True)
    outcome: Mapped[str] = mapped_column(exact(16))
    reason: Mapped[str] = mapped_column(String(200))
    started_at: Mapped[datetime | None]
    seconds: Mapped[int | None]
    exit_statuses: Mapped[list[Any]] = mapped_column(JSON)
    error_output: Mapped[str] = mapped_column(Text)
    host: Mapped[str] = mapped_column(String(255))
    client: Mapped[str] = mapped_column(String(255))
    version_number: Mapped[int | None]
    sha256: Mapped[str | None] = mapped_column(exact(64))
    actor: Mapped[str] = mapped_column(exact(128))
