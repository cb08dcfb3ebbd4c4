"""Tables of a plug-in that a recovery fills again: from the catalogue, and from the journal."""

import contextlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import ForeignKey, LargeBinary, delete, select, update
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from frepo_core import assemble
from frepo_core.db import migrations
from frepo_core.db.models import PluginRowChange
from frepo_core.errors import ConfigurationError, StorageUnavailable
from frepo_core.features.doctor.data import check_database
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.plugins import Tables
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.base.plugin_rows import mark_lacking, read_back
from frepo_core.services.composition.startup import make_ready, schemas_of
from frepo_core.tables import PluginTables, RowId, exact
from frepo_core.testing import Fail, FaultyStorage

from .acme_tables import drop_tables

FOLDER = Path(__file__).parent / "acme_recovered"
AT = datetime(2026, 5, 1, 2, 15, 0, 123456, tzinfo=UTC)
LONG = "ż" * 300
MORE = {"colours": ["red"], "is_dry": True}


class Base(PluginTables, DeclarativeBase):
    plugin = "acme"


class Wall(Base):
    __tablename__ = "wall"

    name: Mapped[str] = mapped_column(exact(300), primary_key=True)
    at: Mapped[datetime]
    more: Mapped[dict[str, Any] | None]


class Coat(Base):
    __tablename__ = "coat"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    wall: Mapped[str] = mapped_column(exact(300), ForeignKey("plugin_acme_wall.name"))
    layers: Mapped[int]


def registry(*, is_there=True, models=Base, is_recovered=True):
    offer = [Tables(models=models, migrations=FOLDER, is_recovered=is_recovered)]
    plugin = FoundPlugin(name="acme", distribution="acme-paint", version="1", tables=lambda: offer if is_there else [])
    return PluginRegistry([*PluginRegistry.from_entry_points(["integrity"]).found, plugin])


@pytest.fixture
def start(ini, tmp_path):
    """Start a service with the plug-in, over the database with a name, or with that of the test."""
    (tmp_path / "storage").mkdir()
    with contextlib.ExitStack() as stack:

        def start(name=None, *, recovers=False, **more):
            url = {"database.url": f"sqlite:///{tmp_path}/{name}.db"} if name else {}
            plugins = registry(**more)
            services = assemble(ini | {"database.auto_upgrade": "true"} | url, {}, plugins)
            stack.callback(services.database.engine.dispose)
            if name is None:
                stack.callback(drop_tables, services.database.engine)
                stack.callback(Base.metadata.drop_all, services.database.engine)
            if recovers:
                migrations.upgrade(services.database.engine)
                with services.feature(RecoveryServices).recovery("local", lambda text: None) as recovery:
                    recovery.run(recovery.find(), with_tokens=True)
            make_ready(services.database, services.settings, plugins, services.backends)
            return services

        yield start


def store_of(services):
    return services.contexts["acme"].service.store


def rows(services):
    with store_of(services).reading() as session:
        walls = {one.name: (one.at, one.more) for one in session.scalars(select(Wall))}
        return walls, {one.id: (one.wall, one.layers) for one in session.scalars(select(Coat))}


def add(services, *walls):
    def work(transaction):
        for name in walls:
            transaction.session.add(Wall(name=name, at=AT, more=MORE))
            transaction.session.flush()
            transaction.session.add(Coat(wall=name, layers=1))

    store_of(services).transaction(work)


def change(services):
    """Change a row, give another one a new key, and delete one."""

    def work(transaction):
        session = transaction.session
        session.get(Wall, "b").more = None
        session.get(Coat, 1).layers = 2
        session.delete(session.get(Coat, 2))
        session.get(Coat, 3).id = 30

    store_of(services).transaction(work)


def write_journal(services):
    written = services.feature(RecoveryServices).journal.write_changes()
    assert not written.needing
    return written.objects


EXPECTED = (
    {
        "a": (AT, {"colours": ["red"], "is_dry": True}),
        "b": (AT, None),
        LONG: (AT, {"colours": ["red"], "is_dry": True}),
    },
    {1: ("a", 2), 30: (LONG, 1)},
)


@pytest.mark.databases
def test_rows_come_back_to_the_last_minute(start):
    services = start()
    services.feature(RecoveryServices).journal.write_catalogue()
    add(services, "a")
    services.feature(RecoveryServices).journal.write_catalogue()
    add(services, "b", LONG)
    write_journal(services)
    change(services)
    assert 4 <= write_journal(services)
    assert 0 == write_journal(services)

    again = start("new", recovers=True)

    assert EXPECTED == rows(services) == rows(again)
    add(again, "c")
    assert {1, 30, 31} == set(rows(again)[1])


@pytest.mark.databases
def test_a_catalogue_alone_has_them(start):
    services = start()
    add(services, "a", "b", LONG)
    change(services)
    services.feature(RecoveryServices).journal.write_catalogue()

    assert EXPECTED == rows(start("new", recovers=True))


@pytest.mark.databases
def test_the_database_gives_new_rows_further_ids(start):
    services = start()
    add(services, "a", "b", LONG)
    change(services)

    def lose(session):
        for table in reversed(Base.metadata.sorted_tables):
            session.connection().execute(delete(table))
        mark_lacking(session)

    services.database.write(lose)
    assert {"acme": 5} == read_back(services.database, schemas_of(services.plugins))

    add(services, "c")
    assert {1, 30, 31} == set(rows(services)[1])


def test_they_are_kept_until_the_package_is_there(start):
    services = start()
    add(services, "a", "b", LONG)
    change(services)
    services.feature(RecoveryServices).journal.write_catalogue()

    without = start("new", recovers=True, is_there=False)
    [kept] = [one for one in check_database(without) if "kept since a recovery" in one.message]

    assert "5 rows of the plug-in acme are kept since a recovery, and its tables lack them" == kept.message
    again = start("new")
    assert EXPECTED == rows(again)
    assert not [one for one in check_database(again) if "recover" in one.message]
    add(again, "c")
    assert "c" in rows(start("new"))[0]  # the copies are not read back again


def test_what_rolls_back_is_not_copied_and_a_statement_is_refused(start):
    services = start()
    services.feature(RecoveryServices).journal.write_catalogue()

    def fail(transaction):
        transaction.session.add(Wall(name="a", at=AT))
        transaction.session.flush()
        raise LookupError("no")

    with pytest.raises(LookupError):
        store_of(services).transaction(fail)
    add(services, "b")
    write_journal(services)
    with pytest.raises(ValueError, match=r"The rows of plugin_acme_coat are recovered"):
        store_of(services).transaction(lambda transaction: transaction.session.execute(update(Coat).values(layers=9)))

    assert ({"b"}, [1]) == (set(rows(start("new", recovers=True))[0]), [one[1] for one in rows(services)[1].values()])


def test_a_storage_that_misses_a_part_gets_a_catalogue(start):
    """The journal forgets what a part has, so a storage without the part needs all."""
    services = start()
    journal = services.feature(RecoveryServices).journal
    journal.write_catalogue()
    add(services, "a")
    backend = services.backends.get("local")
    services.backends._built["local"] = FaultyStorage(backend, Fail("store", nth=0))
    with pytest.raises(StorageUnavailable, match="no record for a recovery"):
        journal.write_changes()
    services.backends._built["local"] = backend

    assert ["local"] == journal.write_changes().needing
    journal.write_catalogue()
    assert {"a"} == set(rows(start("new", recovers=True))[0])


def test_the_doctor_names_tables_that_do_not_come_back(start):
    services = start(is_recovered=False)
    add(services, "a")

    texts = [one.message for one in check_database(services)]

    assert "The tables of the plug-in 'acme' of the package acme-paint 1 do not come back with `frepo recover`" in texts
    with services.database.reading() as session:
        assert session.scalars(select(PluginRowChange.id)).all() == []


def test_a_column_that_has_no_copy_is_refused():
    class Other(PluginTables, DeclarativeBase):
        plugin = "acme"

    class Blob(Other):
        __tablename__ = "blob"

        id: Mapped[int] = mapped_column(primary_key=True)
        bytes: Mapped[bytes] = mapped_column(LargeBinary)

    with pytest.raises(ConfigurationError, match=r"plugin_acme_blob\.bytes cannot be recovered"):
        schemas_of(registry(models=Other))
