"""The table of uploads with an Idempotency-Key."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from ..types import exact
from .base import Base


class Upload(Base):
    """The recorded answer to an upload with an Idempotency-Key, kept for a day.

    `file_id` is the file that the answer names. It may have been deleted since.
    """

    __tablename__ = "upload"

    key: Mapped[str] = mapped_column(exact(64), primary_key=True)
    digest: Mapped[str] = mapped_column(exact(64))
    answer: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(index=True)
    file_id: Mapped[int | None] = mapped_column(index=True)
