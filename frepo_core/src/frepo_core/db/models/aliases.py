"""The table of aliases."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from ..types import exact
from .base import Base


class Alias(Base):
    """Another name for downloads. `file` is a stored name; the file may have been deleted, or be uploaded again."""

    __tablename__ = "alias"

    name: Mapped[str] = mapped_column(exact(255), primary_key=True)
    file: Mapped[str] = mapped_column(exact(255), index=True)
    created_at: Mapped[datetime]
