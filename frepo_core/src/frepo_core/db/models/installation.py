"""The table of values about the installation."""

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from ..types import exact
from .base import Base


class Installation(Base):
    """A named value about the installation that uses the database."""

    __tablename__ = "installation"

    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    value: Mapped[str] = mapped_column(String(255))
