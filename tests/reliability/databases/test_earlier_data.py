"""Data in a database of each earlier revision: it is upgraded, and the service works with it."""

import shutil

import pytest
from sqlalchemy import String, column, delete, func, insert, inspect, select, text
from sqlalchemy import table as sql_table
from webtest import TestApp

from frepo_core import assemble
from frepo_core.db import make_engine, migrations
from frepo_core.db.models import Base, StoredObject
from frepo_core.domain.roles import Role
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.upkeep.storage import verify
from frepo_core.web import make_app
from support.client import Client
from support.reliability.stored_data import WRONG_BYTES, check, store
from support.reliability.upgrades import revisions, schema_differences, upgrade_to
from support.scale import IS_ALL, IS_BIG

PHRASE = "phrase-5ecre7"
# The revision from which on tokens have names and makers.
NAMED = "0017"


def some(step):
    """Return the first revision and the newest, with some between them if all tests run; all in the long form."""
    between = revisions()[::-step] if IS_ALL else revisions()[-1:]
    return revisions() if IS_BIG else sorted({revisions()[0], *between})


@pytest.fixture(scope="module")
def source(tmp_path_factory, open_services):
    """A service on SQLite with data: its folder, its rows by table, the administrator's token and what is stored."""
    folder = tmp_path_factory.mktemp("source")
    services = open_services(folder, settings(folder))
    admin = services.tokens.generate(NewToken(roles=[Role.ADMINISTRATOR], expires="never")).id

    def damage(digest):
        (path,) = (folder / "storage").glob(f"*/{digest}-*")
        path.write_bytes(WRONG_BYTES)
        assert 1 == len(verify(services.database, services.backends).damaged)

    stored = store(Client(TestApp(make_app(services)), admin), damage)
    with services.database.reading() as session:
        rows = {table: session.execute(select(table)).mappings().all() for table in Base.metadata.sorted_tables}
    services.database.engine.dispose()
    return folder, rows, admin, stored


def settings(folder):
    return {
        "app.env": "test",
        "app.secret": "app-5ecre7",
        "enc.token_phrase": PHRASE,
        "fs.adapter": "local",
        "fs.local.directory": str(folder / "storage"),
        "temp_directory": str(folder / "temporary"),
        "ids_mapping.file": str(folder / "ids_mapping.yaml"),
    }


def fill(engine, rows):
    """Insert the rows as far as the current schema has tables and columns for them."""
    with engine.begin() as connection:
        tables = set(inspect(connection).get_table_names())
        for table, found in (before_objects(rows) if "blob" in tables else rows).items():
            if table.name not in tables or not found:
                continue
            connection.execute(delete(table))  # the migrations have made rows of their own
            columns = {column["name"] for column in inspect(connection).get_columns(table.name)}
            connection.execute(insert(table), [{k: row[k] for k in row if k in columns} for row in found])
            if engine.dialect.name == "postgresql" and "id" in columns:
                sequence = text("SELECT pg_get_serial_sequence(:name, 'id')")
                if name := connection.scalar(sequence, {"name": table.name}):
                    connection.execute(select(func.setval(name, connection.scalar(select(func.max(table.c.id))))))


def before_objects(rows):
    """Return the rows as they were before there were objects."""
    places = {row["content_id"]: row for row in rows[StoredObject.__table__]}
    found = {}
    for table, those in rows.items():
        columns = {one.name: one.type for one in table.c}
        if table.name == "content":
            more = ("storage", "key", "damaged_at")
            types = columns | {"storage": String(), "key": String(), "damaged_at": columns["created_at"]}
            blob = sql_table("blob", *(column(name, types[name]) for name in (*columns, *more)))
            found[blob] = [{**row, **_place(places[row["id"]])} for row in those]
        elif "content_id" in columns:
            before = sql_table(table.name, *(column(*one) for one in columns.items()), column("blob_id"))
            found[before] = [{**row, "blob_id": row["content_id"]} for row in those]
        else:
            found[table] = those
    return found


def _place(row):
    is_damaged = row["state"] in {"damaged", "missing"}
    return {"storage": row["storage"], "key": row["key"], "damaged_at": row["since"] if is_damaged else None}


@pytest.fixture
def check_revision(source, tmp_path, fresh_database_url, plugins, make_test_app):
    """Make a database of a revision, with data; upgrade it, and check what the service does with it."""

    def check_revision(revision):
        folder, rows, admin, stored = source
        shutil.copytree(folder / "storage", tmp_path / "storage")
        engine = make_engine(fresh_database_url)
        upgrade_to(engine, revision)
        fill(engine, rows)
        services = assemble(settings(tmp_path) | {"database.url": fresh_database_url}, {}, plugins, engine)

        migrations.make_ready(engine, upgrades=True)

        assert schema_differences(engine) == []
        client = Client(make_test_app(services), admin)
        check(client, stored, keeps_answers=revision > "0001")
        services.token_uses.flush()
        shown = services.token_inventory.show(services.tokens.fingerprint(admin), by=None)
        assert shown.last_used_at
        assert (revision >= NAMED) == (shown.created_by is not None)
        engine.dispose()

    return check_revision


@pytest.mark.parametrize("revision", some(5))
def test_a_service_works_with_the_data_of_each_revision(check_revision, revision):
    check_revision(revision)


@pytest.mark.costly
@pytest.mark.databases("postgresql", "mariadb")
@pytest.mark.parametrize("revision", some(20))
def test_so_it_does_on_other_databases(check_revision, revision):
    check_revision(revision)
