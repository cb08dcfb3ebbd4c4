"""The table of uploads with an Idempotency-Key."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from ..types import exact
from .base import Base


class Upload(Base):
    """The recorded answer to an upload with an Idempotency-Key, kept for 14 days.

    `file_id` is the file that the answer names, `version_id` its version, if it is one's. They may have been deleted
    since.
    """

    __tablename__ = "upload"

    key: Mapped[str] = mapped_column(exact(64), primary_key=True)
    digest: Mapped[str] = mapped_column(exact(64))
    answer: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(index=True)
    file_id: Mapped[int | None] = mapped_column(index=True)
    version_id: Mapped[str | None] = mapped_column(exact(36))
