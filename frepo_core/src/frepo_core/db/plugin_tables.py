"""The base of the tables of plug-ins: their names begin with that of the plug-in, and core never refers to them."""

from typing import Any, ClassVar

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

from .models.base import NAMES, Base


def table_prefix(plugin: str) -> str:
    """Return what the names of a plug-in's tables begin with."""
    return f"plugin_{plugin.lower()}_"


class PluginTables:
    """The base of a plug-in's tables: `class Base(PluginTables, DeclarativeBase): plugin = "acme"`.

    `plugin` is the name of the entry point. A model with `__tablename__ = "colour"` then gets the table
    `plugin_acme_colour`; `Base.prefix` is what comes before. `datetime`, `int`, `list[str]` and `dict[str, Any]` have
    types that behave the same on all databases. Texts need a length: `mapped_column(exact(64))`.
    """

    plugin: ClassVar[str]
    prefix: ClassVar[str]
    metadata: ClassVar[MetaData]

    def __init_subclass__(cls, **more: Any) -> None:
        """Give the base its own tables, and the models of it their names."""
        if DeclarativeBase in cls.__bases__:
            cls.prefix = table_prefix(cls.plugin)
            cls.metadata = MetaData(naming_convention=NAMES)
            cls.type_annotation_map = Base.type_annotation_map  # type: ignore[attr-defined]  # SQLAlchemy reads it
        elif name := vars(cls).get("__tablename__"):
            cls.__tablename__ = f"{cls.prefix}{name}"  # type: ignore[attr-defined]  # a model has it
        super().__init_subclass__(**more)
