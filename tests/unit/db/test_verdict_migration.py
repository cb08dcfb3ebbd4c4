"""The migration that gives each version its verdict: from the results and marks of the last release candidate."""

from datetime import timedelta

import pytest
from sqlalchemy import JSON, MetaData, Table, insert, select, type_coerce

from frepo_core.db import make_engine, migrations, utc_now
from frepo_core.db.models import Collection, TrashCheck, TrashEntry, Version, VersionCheck
from support.reliability.upgrades import upgrade_to

pytestmark = pytest.mark.databases

TABLES = ("collection", "blob", "file", "version", "trash")
NOW = utc_now()
# For each version: its results as (name, outcome, actor), and its other columns.
VERSIONS = {
    "whole": ([("integrity", "good", "0123456789ab")], {}),
    "restored": ([("integrity", "good", "0123456789ab"), ("restore", "good", "system:restore_tests")], {}),
    "unchecked": ([("integrity", "not checked", "0123456789ab")], {}),
    "pending": ([("integrity", "pending", "0123456789ab")], {}),
    "suspicious": ([("integrity", "good", "0123456789ab")], {"is_suspicious": True}),
    "broken": ([("integrity", "broken", "0123456789ab"), ("restore", "good", "system:restore_tests")], {}),
}


@pytest.fixture
def engine(database_url):
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def tables(engine):
    """The tables of revision 0027."""
    upgrade_to(engine, "0027")
    with engine.connect() as connection:
        return {name: Table(name, MetaData(), autoload_with=connection) for name in TABLES}


def at(days):
    return (NOW - timedelta(days=days)).replace(tzinfo=None)


def add_collection(connection, tables, name):
    zeros = ("max_backups_count", "max_one_version_size", "max_collection_size", "last_number", "stored_size")
    row = dict.fromkeys(zeros, 0) | {"id": name, "strategy": "s", "description": "", "filename": "a.sql"}
    connection.execute(insert(tables["collection"]).values(created_at=at(9), versions_count=1, **row))


def add_version(connection, tables, key, collection, number, verdict):
    results, columns = VERSIONS[verdict]
    blob = {"id": key, "digest": f"{key}", "size": 1, "storage": "local", "key": f"{key}", "mime": "m"}
    connection.execute(insert(tables["blob"]).values(created_at=at(1), **blob))
    file = {"id": key, "stored_name": f"{key}", "requested_name": "a", "blob_id": key, "kind": "version"}
    connection.execute(insert(tables["file"]).values(created_at=at(1), public=False, **file))
    row = {"id": f"v{key}", "collection_id": collection, "number": number, "file_id": key} | columns
    connection.execute(insert(tables["version"]).values(created_at=at(9 - number), **row))
    for name, outcome, actor in results:
        check = {"version_id": f"v{key}", "name": name, "outcome": outcome, "message": "", "details": {}}
        connection.execute(insert(VersionCheck).values(at=NOW, actor=actor, **check))


@pytest.mark.costly
def test_verdicts_follow_from_results_and_marks_and_no_version_moves(engine, tables):
    with engine.begin() as connection:
        add_collection(connection, tables, "all")
        for key, verdict in enumerate(VERSIONS, start=1):
            add_version(connection, tables, key, "all", key, verdict)

    migrations.upgrade(engine)

    with engine.connect() as connection:
        columns = (Version.verdict, Version.quarantined_at, Version.pending_since, Version.condemned_at)
        found = connection.execute(select(*columns).order_by(Version.number)).all()
    assert [(verdict, None, None, None) for verdict in VERSIONS] == found


@pytest.mark.parametrize(("newest", "fails"), [("broken", True), ("whole", False), ("suspicious", False)])
def test_a_collection_whose_newest_version_is_broken_has_failed(engine, tables, newest, fails):
    with engine.begin() as connection:
        add_collection(connection, tables, "one")
        for key, verdict in enumerate(("broken", newest), start=1):
            add_version(connection, tables, key, "one", key, verdict)

    migrations.upgrade(engine)

    with engine.connect() as connection:
        row = connection.execute(select(Collection.failed_since, Collection.failed_reason)).one()
    assert (NOW - timedelta(days=7), "The newest version is broken") == row if fails else (None, None) == row


@pytest.mark.costly
def test_versions_in_the_trash_have_verdicts_too(engine, tables):
    with engine.begin() as connection:
        blob = {"id": 1, "digest": "1", "size": 1, "storage": "local", "key": "1", "mime": "m"}
        connection.execute(insert(tables["blob"]).values(created_at=at(1), **blob))
        for key, verdict in enumerate(VERSIONS, start=1):
            results, columns = VERSIONS[verdict]
            row = {"id": key, "collection_id": "c", "incarnation": "c", "number": key, "blob_id": 1, "size": 1}
            row |= {"digest": "1", "reason": "evicted", "evicted_by": "x", "version_id": f"v{key}", "name": "a"}
            times = dict.fromkeys(("evicted_at", "created_at", "ends_at"), NOW)
            connection.execute(
                insert(tables[TrashEntry.__tablename__]).values(checks=type_coerce([], JSON), **row, **times, **columns)
            )
            for name, outcome, actor in results:
                check = {"trash_id": key, "name": name, "outcome": outcome, "message": "", "details": {}}
                connection.execute(insert(TrashCheck).values(at=NOW, actor=actor, **check))

    migrations.upgrade(engine)

    with engine.connect() as connection:
        assert list(VERSIONS) == list(connection.scalars(select(TrashEntry.verdict).order_by(TrashEntry.id)))
