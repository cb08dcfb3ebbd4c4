"""The tables of a plug-in."""

from datetime import datetime
from pathlib import Path

from sqlalchemy import inspect, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from frepo_core.plugins import Tables
from frepo_core.tables import PluginTables, exact

MIGRATIONS = Path(__file__).parent / "acme_migrations"


class Base(PluginTables, DeclarativeBase):
    plugin = "acme"


class Wall(Base):
    __tablename__ = "wall"

    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    painted: Mapped[int]
    at: Mapped[datetime]


def drop_tables(engine):
    """Drop what plug-ins have made: between tests, the servers keep their tables."""
    names = [name for name in inspect(engine).get_table_names() if name.startswith("plugin_acme_")]
    with engine.begin() as connection:
        for name in names:
            connection.execute(text(f"DROP TABLE {name}"))


def tables(folder=MIGRATIONS):
    return [Tables(models=Base, migrations=folder)]
