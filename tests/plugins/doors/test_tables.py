"""The tables of plug-ins: their migrations, what a start checks, and their names."""

import shutil

import pytest
from sqlalchemy import MetaData, Table, inspect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from frepo_core.db import make_engine, migrations
from frepo_core.db.migrations import plugin_schemas
from frepo_core.db.migrations.plugin_schemas import PluginSchema
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import Tables
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.composition.startup import schemas_of
from frepo_core.tables import PluginTables, exact

from .acme_tables import MIGRATIONS, Base, drop_tables, tables

SECOND = '''
"""The colour of a wall."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("plugin_acme_wall", sa.Column("colour", sa.String(20), nullable=True))
'''


@pytest.fixture
def engine(database_url):
    engine = make_engine(database_url)
    migrations.upgrade(engine)
    yield engine
    drop_tables(engine)
    engine.dispose()


@pytest.fixture
def folder(tmp_path):
    """A copy of the migrations, to which others can be added."""
    return shutil.copytree(MIGRATIONS, tmp_path / "migrations")


@pytest.fixture
def schema(folder):
    return PluginSchema(plugin="acme", origin="the plug-in 'acme'", metadata=Base.metadata, revisions=folder)


def registry(offer, name="acme"):
    return PluginRegistry([FoundPlugin(name=name, distribution="acme-paint", version="1", tables=offer)])


@pytest.mark.databases
def test_the_tables_are_those_of_the_models(engine, schema):
    (done,) = plugin_schemas.upgrade(engine, [schema])

    made = Table("plugin_acme_wall", MetaData(), autoload_with=engine)
    assert (None, "0001") == (done.before, done.after)
    assert set(Base.metadata.tables["plugin_acme_wall"].columns.keys()) == set(made.columns.keys())
    assert plugin_schemas.check_are_current(engine, [schema]) is None
    assert migrations.check_is_current(engine) is None
    assert [] == plugin_schemas.upgrade(engine, [schema])


@pytest.mark.databases
def test_a_further_revision_changes_the_tables(engine, schema, folder):
    plugin_schemas.upgrade(engine, [schema])
    (folder / "0002_colours.py").write_text(SECOND)

    with pytest.raises(ConfigurationError, match="at 0001, the package needs 0002: run `frepo db:upgrade`"):
        plugin_schemas.check_are_current(engine, [schema])
    (done,) = plugin_schemas.upgrade(engine, [schema])

    assert ("0001", "0002") == (done.before, done.after)
    assert "colour" in {column["name"] for column in inspect(engine).get_columns("plugin_acme_wall")}


@pytest.mark.databases
def test_a_failed_revision_can_be_repeated(engine, schema, folder):
    (folder / "0002_colours.py").write_text(SECOND + "    raise RuntimeError('killed')\n")
    with pytest.raises(RuntimeError, match="killed"):
        plugin_schemas.upgrade(engine, [schema])

    (folder / "0002_colours.py").write_text(SECOND)
    plugin_schemas.upgrade(engine, [schema])

    assert plugin_schemas.check_are_current(engine, [schema]) is None


def test_older_code_than_the_tables_is_named(engine, schema, folder):
    (folder / "0002_colours.py").write_text(SECOND)
    plugin_schemas.upgrade(engine, [schema])
    (folder / "0002_colours.py").unlink()

    with pytest.raises(ConfigurationError, match="at 0002, the package needs 0001"):
        plugin_schemas.check_are_current(engine, [schema])
    with pytest.raises(ConfigurationError, match="'acme' are at 0002, which this version does not know"):
        plugin_schemas.upgrade(engine, [schema])


def test_missing_tables_are_named_with_the_package(engine, schema):
    with pytest.raises(ConfigurationError, match="the plug-in 'acme' has no tables in the database yet"):
        plugin_schemas.check_are_current(engine, [schema])


def test_a_table_of_another_application_is_not_taken(engine, schema):
    with engine.begin() as connection:
        Base.metadata.create_all(connection)

    with pytest.raises(ConfigurationError, match="plugin_acme_wall"):
        plugin_schemas.upgrade(engine, [schema])


def test_a_folder_without_revisions_is_a_mistake_of_the_package(engine, schema, folder):
    (folder / "0001_walls.py").unlink()

    with pytest.raises(ConfigurationError, match="has no revisions"):
        plugin_schemas.upgrade(engine, [schema])


def test_a_plugin_has_no_tables_of_others(folder):
    class Other(PluginTables, DeclarativeBase):
        plugin = "other"

    class Thing(Other):
        __tablename__ = "thing"

        name: Mapped[str] = mapped_column(exact(9), primary_key=True)

    assert "plugin_other_thing" == Thing.__tablename__
    with pytest.raises(ConfigurationError, match=r"acme-paint.*'plugin_other_thing'.*'plugin_acme_'"):
        schemas_of(registry(lambda: [Tables(models=Other, migrations=folder)]))
    with pytest.raises(ConfigurationError, match="no base of models"):
        schemas_of(registry(lambda: [Tables(models=object(), migrations=folder)]))
    assert ["acme"] == [one.plugin for one in schemas_of(registry(tables))]
