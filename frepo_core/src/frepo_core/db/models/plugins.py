"""The table of values that plug-ins keep."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON
from sqlalchemy.orm import Mapped, mapped_column

from ..types import exact
from .base import Base


class PluginValue(Base):
    """A value of a plug-in under a key. `plugin` is the name of its entry point, `version` is new with each change."""

    __tablename__ = "plugin_value"

    plugin: Mapped[str] = mapped_column(exact(64), primary_key=True)
    key: Mapped[str] = mapped_column(exact(200), primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)
    version: Mapped[int]
    changed_at: Mapped[datetime]
