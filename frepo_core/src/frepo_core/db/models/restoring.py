"""How a collection is restore-tested."""

from typing import Any

from sqlalchemy import JSON, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from ..types import exact
from .base import Base


class RestoreChoice(Base):
    """The engine that a collection has chosen, null for none, and what a restored copy must have, by name.

    `filled` are the tables that had rows in the last good restore, null before one.
    """

    __tablename__ = "restore_choice"

    collection_id: Mapped[str] = mapped_column(
        exact(36), ForeignKey("collection.id", ondelete="CASCADE"), primary_key=True
    )
    engine: Mapped[str | None] = mapped_column(exact(64))
    assertions: Mapped[dict[str, Any]] = mapped_column(JSON)
    filled: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
