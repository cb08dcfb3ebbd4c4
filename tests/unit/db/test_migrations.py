"""Only migrations make the schema; a service does not start on another schema."""

import uuid
from datetime import datetime, timedelta

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, Table, delete, insert, inspect, make_url, select, text
from sqlalchemy.exc import IntegrityError

from frepo_core.db import make_engine, migrations, utc_now
from frepo_core.db.models import Base, Collection, Content, Event, File, Installation, StoredObject, Token
from frepo_core.domain.signatures import fingerprint
from frepo_core.errors import ConfigurationError
from support.reliability.upgrades import is_for_rows, schema_differences, upgrade_to

pytestmark = pytest.mark.databases

OF_A_VERSION = ("collection", "blob", "file", "version")


@pytest.fixture
def engine(database_url):
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def postgresql_schema(postgresql_server):
    """An engine whose tables are made in a separate schema."""
    name = f"own_{uuid.uuid4().hex[:12]}"
    with postgresql_server.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
        connection.execute(text(f"ALTER DATABASE {name} SET search_path = own, public"))
        url = make_url(postgresql_server.emptied()).set(database=name).render_as_string(hide_password=False)
        first = make_engine(url)
        with first.begin() as inside:
            inside.execute(text("CREATE SCHEMA own"))
        first.dispose()
        engine = make_engine(url)
        yield engine
        engine.dispose()
        connection.execute(text(f"DROP DATABASE {name}"))


def head():
    return ScriptDirectory.from_config(migrations._config()).get_current_head()


def set_revision(engine, revision):
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {migrations.VERSION_TABLE} SET version_num = :it"), {"it": revision})


@pytest.mark.costly
def test_an_empty_database_gets_the_newest_schema(engine):
    assert (None, head()) == migrations.upgrade(engine)


@pytest.mark.costly
def test_the_migrations_make_every_table_of_the_models(engine):
    migrations.upgrade(engine)

    assert {*Base.metadata.tables, migrations.VERSION_TABLE} == {
        name for name in inspect(engine).get_table_names() if name != "sqlite_sequence" and is_for_rows(name)
    }


@pytest.mark.costly
def test_the_models_equal_the_migrated_schema(engine):
    migrations.upgrade(engine)

    assert schema_differences(engine) == []


def test_the_newest_revision_is_alembics_head():
    assert head() == migrations.head_revision()


@pytest.mark.costly
def test_fingerprints_that_tokens_share_are_lengthened(engine):
    keys = ["a" * 64, "b" * 64, "c" * 64, "d" * 64]
    alone = fingerprint(keys[3])
    upgrade_to(engine, "0006")
    with engine.connect() as connection:
        for key, shown in zip(keys, ["shared", "shared", "shared", alone], strict=True):
            lists = {name: [] for name in ("roles", "tags", "mimes", "user_agents", "ip_addresses")}
            row = {"key": key, "fingerprint": shown, "max_file_size": 0, "created_at": utc_now(), **lists}
            connection.execute(insert(Token).values(row))
        connection.commit()

    migrations.upgrade(engine)

    with engine.connect() as connection:
        found = connection.scalars(select(Token.fingerprint).order_by(Token.key)).all()
    assert ["shared", fingerprint(keys[1]), fingerprint(keys[2]), alone] == found
    assert schema_differences(engine) == []


@pytest.mark.costly
def test_older_tokens_have_no_name_and_unknown_uses(engine):
    upgrade_to(engine, "0013")
    with engine.connect() as connection:
        lists = {name: [] for name in ("roles", "tags", "mimes", "user_agents", "ip_addresses")}
        row = {"key": "a" * 64, "fingerprint": "a" * 12, "max_file_size": 0, "created_at": utc_now(), **lists}
        connection.execute(insert(Token).values(row))
        connection.commit()
    before = utc_now()

    migrations.upgrade(engine)

    with engine.connect() as connection:
        columns = (Token.name, Token.created_by, Token.last_used_at, Token.last_used_from)
        assert ("", None, None, None) == tuple(connection.execute(select(*columns)).one())
        recorded_from = connection.scalar(select(Installation.value).where(Installation.name == "token_uses_from"))
    assert before <= datetime.fromisoformat(recorded_from) <= utc_now()


@pytest.mark.costly
def test_contents_keep_their_users_and_no_id_is_given_again(engine):
    upgrade_to(engine, "0036")
    now = utc_now().replace(tzinfo=None)
    blob = {"size": 1, "storage": "local", "mime": "text/plain", "created_at": now}
    file = {"public": True, "created_at": now, "kind": "plain"}
    with engine.connect() as connection:
        tables = {name: Table(name, MetaData(), autoload_with=connection) for name in ("blob", "file")}
        for number in (1, 2):
            values = {"digest": f"{number}" * 64, "key": f"key {number}"}
            connection.execute(insert(tables["blob"]).values(blob | values))
        connection.execute(
            insert(tables["file"]).values(file | {"blob_id": 1, "stored_name": "a", "requested_name": "a"})
        )
        connection.execute(delete(tables["blob"]).where(tables["blob"].c.id == 2))
        connection.commit()

    migrations.upgrade(engine)

    content = {"size": 1, "mime": "text/plain", "created_at": utc_now()}
    with engine.connect() as connection:
        made = connection.execute(insert(Content.__table__).values(content | {"digest": "3" * 64}))
        assert (3,) == tuple(made.inserted_primary_key)
        query = select(StoredObject.key).join(File, File.content_id == StoredObject.content_id)
        assert "key 1" == connection.scalar(query)
        compared_first = select(Installation.name).where(Installation.name.startswith("reconcile."))
        assert ["reconcile.local"] == connection.scalars(compared_first).all()
        with pytest.raises(IntegrityError):
            connection.execute(delete(Content.__table__).where(Content.id == 1))
    with engine.connect() as connection, pytest.raises(IntegrityError):
        connection.execute(insert(Content.__table__).values(content | {"digest": "1" * 64}))
    assert schema_differences(engine) == []


def test_collections_learn_their_last_arrival_and_creator_from_versions_and_events(engine):
    upgrade_to(engine, "0013")
    day = timedelta(days=1)
    now = utc_now()
    zeros = ("max_backups_count", "max_one_version_size", "max_collection_size", "last_number", "versions_count")
    with engine.begin() as connection:
        tables = {name: Table(name, MetaData(), autoload_with=connection) for name in OF_A_VERSION}
        for name in ("sound", "suspicious", "empty"):
            row = dict.fromkeys((*zeros, "stored_size"), 0) | {"id": name, "strategy": "s", "description": ""}
            row |= {"filename": "a.sql", "created_at": (now - 9 * day).replace(tzinfo=None)}
            connection.execute(insert(tables["collection"]).values(row))
        blob = {"id": 1, "digest": "a", "size": 1, "storage": "local", "key": "k", "mime": "m"}
        connection.execute(insert(tables["blob"]).values(created_at=now.replace(tzinfo=None), **blob))
        versions = [
            ("sound", 1, 3, True),
            ("sound", 2, 2, False),
            ("suspicious", 1, 3, False),
            ("suspicious", 2, 1, True),
        ]
        for number, (collection, version, days, is_suspicious) in enumerate(versions):
            file = {
                "id": number + 1,
                "stored_name": f"{number}",
                "requested_name": "a",
                "blob_id": 1,
                "kind": "version",
            }
            at = (now - days * day).replace(tzinfo=None)
            connection.execute(insert(tables["file"]).values(created_at=at, public=False, **file))
            row = {"id": f"v{number}", "collection_id": collection, "number": version, "file_id": number + 1}
            connection.execute(insert(tables["version"]).values(created_at=at, is_suspicious=is_suspicious, **row))
        event = {"at": now, "collection_id": "sound", "data": {}}
        for kind, actor in [("created", "old"), ("created", "0123456789ab"), ("edited", "another")]:
            connection.execute(insert(Event).values(kind=f"collection.{kind}", actor=actor, **event))

    migrations.upgrade(engine)

    query = select(Collection.id, Collection.arrived_at, Collection.suspicious_since, Collection.created_by)
    with engine.connect() as connection:
        found = connection.execute(query.order_by(Collection.id)).all()
    assert found == [
        ("empty", None, None, None),
        ("sound", now - 2 * day, None, "0123456789ab"),
        ("suspicious", now - day, now - day, None),
    ]


def test_nothing_is_deleted_after_an_upgrade_before_the_storages_were_compared(engine):
    upgrade_to(engine, "0045")
    with engine.begin() as connection:
        rows = Table("object", MetaData(), autoload_with=connection)
        since = utc_now().replace(tzinfo=None)
        for number, (storage, state) in enumerate([("local", "present"), ("away", "damaged"), ("former", "gone")]):
            row = {"digest": f"{number}", "size": 1, "storage": storage, "key": f"{number}", "since": since}
            connection.execute(insert(rows).values(state=state, **row))

    migrations.upgrade(engine)

    with engine.connect() as connection:
        names = connection.scalars(select(Installation.name).where(Installation.name.startswith("reconcile.")))
        assert ["reconcile.away", "reconcile.local"] == sorted(names)


@pytest.mark.databases("sqlite")
def test_tables_that_are_missing_are_named(engine):
    migrations.upgrade(engine)
    migrations.check_is_complete(engine)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE sample"))

    with pytest.raises(ConfigurationError, match="The database lacks the tables: sample. Restore it"):
        migrations.check_is_complete(engine)
