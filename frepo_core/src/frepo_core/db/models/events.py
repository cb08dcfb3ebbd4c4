"""The table of events."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    Index,
    String,
)
from sqlalchemy.orm import Mapped, mapped_column

from ..types import RowId, exact
from .base import Base


class Event(Base):
    """Something that happened, written in the transaction of the fact. Its objects may have been deleted since.

    `position` is its place in the order of commits. It is null until the worker that leads has numbered the row, as an
    event with a lower id may be committed after one with a higher id. An index finds such rows: on
    PostgreSQL `ix_event_unnumbered` of migration 0008, elsewhere that of the positions. `actor` is a token's
    fingerprint, `system:<job>`, `console:<user>` or `anonymous`; `actor_name` is the token's name at that time. `token`
    is the fingerprint of the token that the event is about. `link` is written with the position, see
    `services.events.chain`; it is null for events that were numbered before migration 0055.
    """

    __tablename__ = "event"
    __table_args__ = (
        Index("ix_event_kind", "kind", "position"),
        Index("ix_event_collection", "collection_id", "position"),
        Index("ix_event_actor", "actor", "position"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    position: Mapped[int | None] = mapped_column(index=True, unique=True)
    at: Mapped[datetime] = mapped_column(index=True)
    kind: Mapped[str] = mapped_column(exact(64))
    actor: Mapped[str] = mapped_column(exact(128))
    actor_name: Mapped[str | None] = mapped_column(String(255))
    address: Mapped[str | None] = mapped_column(String(64))
    collection_id: Mapped[str | None] = mapped_column(exact(36))
    version_number: Mapped[int | None]
    file_id: Mapped[int | None]
    token: Mapped[str | None] = mapped_column(String(16))
    data: Mapped[dict[str, Any]]
    link: Mapped[str | None] = mapped_column(exact(64))
