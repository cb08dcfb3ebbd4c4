"""How a collection is restore-tested."""

from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from ..types import JsonObject, JsonTexts, exact
from .base import Base


class RestoreChoice(Base):
    """The engine that a collection has chosen, null for none, and what a restored copy must have, by name.

    `incarnation` names the collection, also while it is in the trash. `filled` are the tables that had rows in the last
    good restore, null before one.
    """

    __tablename__ = "restore_choice"

    incarnation: Mapped[str] = mapped_column(exact(36), primary_key=True)
    engine: Mapped[str | None] = mapped_column(exact(64))
    assertions: Mapped[dict[str, Any]] = mapped_column(JsonObject)
    filled: Mapped[list[str] | None] = mapped_column(JsonTexts(none_as_null=True))
