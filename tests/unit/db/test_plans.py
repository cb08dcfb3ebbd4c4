"""Query plans of listings: no listing reads a whole large table."""

import re
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

import pytest
from sqlalchemy import event, true

from frepo_core.db import utc_now
from frepo_core.domain.roles import Role
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.collections.collection_pages import CollectionFilter
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.rows.collection_search import CollectionSearch
from frepo_core.services.base.keyset import PageRequest
from frepo_core.services.files.listing import FileSearch
from frepo_core.services.upkeep.storage.verify import Queue
from support import bulk_data

pytestmark = pytest.mark.databases

COUNT = 20_000
LARGE = {"blob", "file", "file_tag", "collection", "collection_token", "version", "token", "upload"}
# These indexes are read in their order, from one end to the end of the page.
IN_ORDER = re.compile("ix_collection_(newest|name|size)")


@pytest.fixture
def ini(ini):
    return ini | {"health_check.code": "a code"}


@pytest.fixture
def crowded(services, monkeypatch):
    """A service with 20,000 rows in each table: large in proportion to the 4,000 rows that a page may count."""
    monkeypatch.setattr("frepo_core.services.files.file_query.COUNT_AHEAD", 100)
    monkeypatch.setattr("frepo_core.services.backups.rows.collection_search.COUNT_AHEAD", 100)
    engine = services.database.engine
    bulk_data.fill_files(engine, COUNT)
    bulk_data.fill_tokens(engine, COUNT)
    viewer = NewToken(roles=[Role.VIEW_LISTING, Role.LIST_COLLECTIONS], expires="never")
    by = identity(services, services.tokens.generate(viewer).id)
    bulk_data.fill_collections(engine, COUNT, by.token)
    big = services.collections.create(CollectionChange(limits={}, filename="big.sql"), by=None)
    bulk_data.fill_versions(engine, big.id, COUNT)
    return services, by, big.id


def identity(services, token):
    return services.tokens.identify(token, address="127.0.0.1", user_agent="")


def statements(engine, work):
    """Return the SELECT statements that a function sends, and their parameters."""
    seen = []

    def note(connection, cursor, statement, parameters, context, many):
        if statement.lstrip().startswith(("SELECT", "WITH")):
            seen.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", note)
    work()
    event.remove(engine, "before_cursor_execute", note)
    return seen


def whole_tables(engine, statement, parameters):
    """Return the large tables that the plan reads completely."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            found = [re.match(r"SCAN (\w+)(.*)", row.detail) for row in rows]
            names = {
                match[1] for match in found if match and not IN_ORDER.search(match[2]) and "VIRTUAL" not in match[2]
            }
        elif engine.dialect.name == "postgresql":
            # The planner may prefer to read 20,000 rows; the test is whether it is forced to.
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            rows = connection.exec_driver_sql(f"EXPLAIN {statement}", parameters)
            names = set(re.findall(r"Seq Scan on (\w+)", "\n".join(row[0] for row in rows)))
        else:
            rows = connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).mappings()
            names = {
                row["table"]
                for row in rows
                if row["type"] in {"ALL", "index"} and not IN_ORDER.fullmatch(row["key"] or "")
            }
    return names & LARGE


FILES = {
    "all": {},
    "page 50": {"page": 50},
    "a tag that few have": {"tags": [bulk_data.RARE]},
    "a tag that many have": {"tags": [bulk_data.OFTEN]},
    "two tags": {"tags": [bulk_data.OFTEN, bulk_data.RARE]},
    "a tag that none has": {"tags": ["none"]},
    "a type that few have": {"mimes": ["image/png"]},
    "a type that many have": {"mimes": ["text/plain"]},
    "two types": {"mimes": ["image/png", "text/plain"]},
    "a part of the name": {"text": bulk_data.WORD},
    "a part of the name, a tag and a type": {"text": bulk_data.WORD, "tags": [bulk_data.RARE], "mimes": ["image/png"]},
}
# Excluded: a search for collections by a part of their text reads them all, newest first (docs/performance.md).
COLLECTIONS = {
    "all": {},
    "page 50": {"page": 50},
    "of a token": {"tokens": ["none"]},
    "of two days": {"created_from": date(2026, 1, 1), "created_to": date(2026, 1, 2)},
}


def works_of(services, viewer, admin, collection):
    """Return each listing, and each lookup before a listing, by its name."""
    for who, by in (("a viewer", viewer), ("an administrator", admin)):
        for name, search in FILES.items():
            yield f"files: {name}, for {who}", partial(services.listing.files, FileSearch(**search), by=by)
        for name, search in COLLECTIONS.items():
            search = CollectionSearch(**search)
            yield f"collections: {name}, for {who}", partial(services.collection_pages.search, search, by=by)
        for sort in ("name", "-name", "stored_size", "-stored_size", "created_at", "-created_at"):
            page = PageRequest(sort=sort.removeprefix("-"), is_descending=sort.startswith("-"))
            yield (
                f"/api/v1/collections by {sort}, for {who}",
                partial(services.collection_pages.page, CollectionFilter(), page, by=by),
            )
    yield "versions", partial(services.versions.list, "another")
    for name in ("latest", "first", "v7"):
        yield f"version {name}", partial(services.versions.find, collection, name)
    small = services.versions.find(collection, "v7")
    large = replace(small, file=replace(small.file, blob=replace(small.file.blob, size=10**6)))
    for who, by in (("a viewer", viewer), ("the console", None)):
        yield f"the same content elsewhere, for {who}", partial(services.same_contents.find, large, by=by)
    yield "a collection, and whether it lists a token", partial(services.collections.get_for_token, collection, viewer)
    yield "health", partial(services.health.report, "a code")
    yield "expired tokens", services.tokens.clear_expired
    # Excluded: MariaDB reads all versions of a frequent verdict (docs/performance.md).
    for verdict in () if services.database.engine.dialect.name == "mysql" else ("unchecked", "broken"):
        wanted = CollectionFilter(verdicts=(verdict,))
        page = partial(services.collection_pages.page, wanted, PageRequest(sort="name"), by=admin)
        yield f"/api/v1/collections with the verdict {verdict}", page
    yield "the next blobs to verify", partial(next_blobs, services.database)


def next_blobs(database):
    now = utc_now()
    for cutoff in (now, now - timedelta(days=30)):
        with database.reading() as session:
            Queue(newest=COUNT, cutoff=cutoff, started=now, which=true()).next(session, [], 200)


@pytest.mark.costly
@pytest.mark.slow
def test_no_listing_reads_a_whole_table(crowded, admin):
    services, viewer, collection = crowded
    engine = services.database.engine
    assert {"file"} == whole_tables(engine, "SELECT count(*) FROM file WHERE requested_name = 'x'", ())

    found = {
        name: tables
        for name, work in works_of(services, viewer, identity(services, admin), collection)
        if (tables := [names for one in statements(engine, work) if (names := whole_tables(engine, *one))])
    }

    assert found == {}


def rows_read(engine, statement, parameters, table):
    """Return how many rows of a table PostgreSQL reads for a statement."""

    def nodes(plan):
        yield plan
        for part in plan.get("Plans", []):
            yield from nodes(part)

    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()
    read = [node for node in nodes(plan[0]["Plan"]) if node.get("Relation Name") == table]
    return sum((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in read)


@pytest.mark.costly
@pytest.mark.databases("postgresql")
def test_a_page_of_collections_reads_the_newest_version_of_each(crowded):
    services, _, big = crowded
    admin = identity(services, services.tokens.generate(NewToken(roles=[Role.ADMINISTRATOR], expires="never")).id)
    page = partial(
        services.collection_pages.page, CollectionFilter(text=big), PageRequest(limit=50, sort="name"), by=admin
    )

    found = statements(services.database.engine, page)

    assert 20_000 == page().items[0].newest.number
    # The newest one, and the newest good one, each from the end of an index.
    assert 5 > sum(rows_read(services.database.engine, *one, "version") for one in found)
