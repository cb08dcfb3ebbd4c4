"""The tables of plug-ins: their migrations, what a start checks, and their names."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Column, MetaData, Table, inspect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from frepo_core import assemble
from frepo_core.db import make_engine, migrations
from frepo_core.db.migrations import plugin_schemas
from frepo_core.db.migrations.plugin_schemas import PluginSchema
from frepo_core.errors import ConfigurationError
from frepo_core.features.doctor.doctor import examine
from frepo_core.features.doctor.findings import Level
from frepo_core.features.doctor.permissions import SettingFiles
from frepo_core.plugins import Tables
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.composition.startup import schemas_of
from frepo_core.tables import PluginTables, exact
from frepo_core.testing.running_service import RunningService

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
def grown():
    """The models with a column and a table that no revision makes."""
    models = MetaData()
    for table in Base.metadata.tables.values():
        table.to_metadata(models).append_column(Column("colour", exact(20)))
    Table("plugin_acme_floor", models, Column("name", exact(20), primary_key=True))
    return models


@pytest.fixture
def schema(folder):
    return PluginSchema(plugin="acme", origin="the plug-in 'acme'", metadata=Base.metadata, revisions=folder)


WITHOUT_REVISION = (
    "needs the table plugin_acme_floor and the column plugin_acme_wall.colour, which no revision has made"
)


def registry(offer, name="acme"):
    return PluginRegistry([FoundPlugin(name=name, distribution="acme-paint", version="1", tables=offer)])


@pytest.mark.costly
@pytest.mark.databases
def test_the_tables_are_those_of_the_models(engine, schema):
    (done,) = plugin_schemas.upgrade(engine, [schema])

    made = Table("plugin_acme_wall", MetaData(), autoload_with=engine)
    assert (None, "0001") == (done.before, done.after)
    assert set(Base.metadata.tables["plugin_acme_wall"].columns.keys()) == set(made.columns.keys())
    assert plugin_schemas.check_are_current(engine, [schema]) is None
    assert migrations.check_is_current(engine) is None
    assert [] == plugin_schemas.upgrade(engine, [schema])


@pytest.mark.costly
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


@pytest.mark.databases
def test_a_column_and_a_table_without_a_revision_are_named(engine, schema, grown, folder):
    plugin_schemas.upgrade(engine, [schema])

    with pytest.raises(ConfigurationError, match=WITHOUT_REVISION) as caught:
        plugin_schemas.check_are_current(engine, [replace(schema, metadata=grown)])

    assert "the revision 0001" in caught.value.message
    assert str(folder) in caught.value.message


@pytest.fixture
def unfinished(grown, folder):
    """A plug-in whose author has forgotten a revision."""
    models = SimpleNamespace(metadata=grown)
    declared = [Tables(models=models, migrations=folder)]
    return FoundPlugin(name="acme", distribution="acme-paint", version="1", tables=lambda: declared)


def test_a_service_for_tests_does_not_start_without_a_revision(unfinished, tmp_path, caplog):
    with pytest.raises(ConfigurationError, match=WITHOUT_REVISION):
        RunningService(tmp_path / "frepo", {}, caplog, (unfinished,))


def test_the_doctor_names_what_has_no_revision(unfinished, ini, engine, schema):
    plugin_schemas.upgrade(engine, [schema])
    registry = PluginRegistry([*PluginRegistry.from_entry_points().found, unfinished])

    files = SettingFiles(ini=Path("none.ini"), settings={})
    findings = examine(lambda: assemble(ini, {}, registry), files=files)
    found = [one.message for one in findings if one.level == Level.PROBLEM]

    assert any(WITHOUT_REVISION in message for message in found)


@pytest.mark.databases
def test_a_column_that_no_model_needs_any_more_may_stay(engine, schema, folder):
    (folder / "0002_colours.py").write_text(SECOND)
    plugin_schemas.upgrade(engine, [schema])

    assert plugin_schemas.check_are_current(engine, [schema]) is None


@pytest.mark.costly
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
