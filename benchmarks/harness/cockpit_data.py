"""Fills a PostgreSQL database with an installation of a year: collections, versions, tokens, events and samples."""

import re

from sqlalchemy import Engine, text

VERSIONS, EVENTS = 100, 1000  # of each collection
TOKEN = "left(md5('token' || i), 12)"
COLLECTION = "'00000000-0000-4000-8000-' || lpad(cast(i AS text), 12, '0')"
# The collection of a version or an event with the number i, where c is the number of collections.
OF_ROW = COLLECTION.replace("cast(i AS text)", "cast(1 + i % c AS text)")
DAY, NOW = "interval '1 day'", "(now() AT TIME ZONE 'utc')"

_COLLECTIONS = f"""
INSERT INTO collection (id, filename, description, strategy, max_backups_count, max_one_version_size,
    max_collection_size, created_at, last_number, versions_count, stored_size, guard_action, labels, created_by,
    expected_every, expected_since, arrived_at, due_at, overdue_at, full_since, suspicious_since, restore_outcome,
    restore_tried_at)
SELECT {COLLECTION}, 'server-' || i || '.sql.gz', 'database of server ' || i,
    CASE WHEN i % 100 = 0 THEN 'alert_when_backup_limit_reached' ELSE 'delete_oldest_when_adding_new' END,
    0, 0, 0, {NOW} - 365 * {DAY}, v, v, v * 1000000, 'keep',
    json_build_array('rack-' || i % 50, CASE WHEN i % 20 = 0 THEN 'production' ELSE 'test' END),
    'console:operator', 'P1D', {NOW} - 365 * {DAY}, {NOW} - {DAY} / 2,
    {NOW} + CASE WHEN i % 50 IN (0, 1) THEN -1 ELSE 1 END * {DAY} / 2,
    {NOW} + CASE WHEN i % 50 = 0 THEN -1 ELSE 2 END * {DAY} / 3,
    CASE WHEN i % 50 = 2 THEN {NOW} - {DAY} END, CASE WHEN i % 50 = 3 THEN {NOW} - {DAY} END,
    CASE WHEN i % 10 = 0 THEN 'good' END, CASE WHEN i % 10 = 0 THEN {NOW} - i * {DAY} / 1000 END
FROM generate_series(1, c) i
"""
_TOKENS = f"""
INSERT INTO token (key, fingerprint, roles, tags, mimes, max_file_size, user_agents, ip_addresses, created_at, name,
    created_by, last_used_at, last_used_from)
SELECT 'key-' || i, {TOKEN}, json_build_array('collections.upload_to_allowed_collections',
        CASE WHEN i % 20 = 0 THEN 'upload.all' ELSE 'collections.list_versions_for_allowed_collections' END),
    '[]', '[]', 0, '[]', '[]', {NOW} - 365 * {DAY}, 'server-' || i, 'console:operator',
    {NOW} - (i % 400) * {DAY}, '192.0.2.' || i % 256
FROM generate_series(1, c) i
"""
# The service itself has recorded a few events before.
_EVENTS = f"""
INSERT INTO event (id, position, at, kind, actor, actor_name, address, collection_id, version_number, token, data)
SELECT 100 + i, 100 + i, {NOW} - cast(e - i AS float) / e * 365 * {DAY},
    CASE WHEN i % 1000 = 0 THEN 'version.deleted' WHEN i % 100 = 0 THEN 'version.refused'
        WHEN i % 3 = 0 THEN 'version.evicted' ELSE 'version.added' END,
    {TOKEN.replace("|| i)", "|| 1 + i % c)")}, 'server-' || 1 + i % c, '192.0.2.1', {OF_ROW}, 1 + i / c,
    NULL, '{{"size": 1000000}}'
FROM generate_series(cast(1 AS bigint), e) i
"""
_STATEMENTS = (
    _COLLECTIONS,
    _TOKENS,
    (
        f"INSERT INTO collection_token (collection_id, token_key) SELECT {COLLECTION}, 'key-' || i FROM "
        "generate_series(1, c) i"
    ),
    f"""INSERT INTO content (id, digest, size, mime, created_at)
SELECT i, md5('d' || i) || md5('e' || i), 1000000, 'application/gzip', {NOW} - (v - i / c) * {DAY}
FROM generate_series(1, c * v) i""",
    f"""INSERT INTO object (content_id, digest, size, storage, key, state, slot, since, stored_at, read_at)
SELECT i, md5('d' || i) || md5('e' || i), 1000000, 'local', 'k-' || i,
    CASE WHEN i % (c * v / 10) = 5 THEN 'damaged' ELSE 'present' END, 1,
    {NOW} - {DAY}, {NOW} - (v - i / c) * {DAY}, {NOW} - {DAY}
FROM generate_series(1, c * v) i""",
    f"""INSERT INTO file (id, stored_name, requested_name, content_id, public, created_at, kind)
SELECT i, 'f' || i || 'dump.sql.gz', 'dump.sql.gz', i, false, {NOW} - (v - i / c) * {DAY}, 'version'
FROM generate_series(1, c * v) i""",
    f"""INSERT INTO version (id, collection_id, number, file_id, created_at, is_suspicious)
SELECT cast(md5('v' || i) AS uuid), {OF_ROW}, 1 + (i - 1) / c, i, {NOW} - (v - (i - 1) / c) * {DAY}, i % 97 = 0
FROM generate_series(1, c * v) i""",
    f"""INSERT INTO version_check (version_id, name, outcome, message, details, at, actor)
SELECT cast(md5('v' || i) AS uuid), 'gzip', CASE WHEN i % 500 = 0 THEN 'broken' ELSE 'good' END, '', '{{}}',
    {NOW} - {DAY}, 'system:integrity' FROM generate_series(1, c * v) i""",
    f"""INSERT INTO sample (at, collection_id, versions, size, blobs, sent, uploads, refusals, trash)
SELECT {NOW} - i * {DAY}, NULL, c * v, c * v * 1000000, c * v, c * v * 1000000, c, c / 100, 0
FROM generate_series(1, 365) i""",
    f"""INSERT INTO sample (at, collection_id, versions, size, blobs)
SELECT {NOW} - d * {DAY}, {COLLECTION}, v, v * 1000000, v FROM generate_series(1, c) i, generate_series(1, 30) d""",
)


def fill(engine: Engine, collections: int, events: int) -> None:
    """Add collections with 100 versions and a token each, and events; each table is analyzed afterwards."""
    values = {"c": f"cast({collections} AS bigint)", "v": str(VERSIONS), "e": f"cast({events} AS bigint)"}
    with engine.begin() as connection:
        for statement in _STATEMENTS:
            connection.exec_driver_sql(_filled(statement, values))
    with engine.begin() as connection:  # faster than to add millions of rows to each index
        indexes = connection.execute(
            text("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'event' AND indexname LIKE 'ix%'")
        ).all()
        for name, _ in indexes:
            connection.exec_driver_sql(f"DROP INDEX {name}")
        connection.exec_driver_sql(_filled(_EVENTS, values))
        for _, definition in indexes:
            connection.exec_driver_sql(definition)
        for table in ("content", "file", "event"):
            connection.exec_driver_sql(f"SELECT setval('{table}_id_seq', (SELECT max(id) FROM {table}))")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def _filled(statement: str, values: dict[str, str]) -> str:
    """Replace the letters c, v and e, which stand for counts, outside of texts, and escape `%`."""
    parts = re.split("('[^']*')", statement)
    pattern = re.compile(r"(?<![.\w])([cve])(?![.\w(])")
    filled = (part if index % 2 else pattern.sub(lambda one: values[one[1]], part) for index, part in enumerate(parts))
    return "".join(filled).replace("%", "%%")
