"""Contents and objects, in place of blobs, their copies, and the bytes that an encoding has replaced.

Two blobs of one digest in two storages become one content with two objects. A content keeps the id of its oldest blob.
Stop all processes of earlier versions before: they do not know these tables.
"""

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact, utc_now
from frepo_core.errors import ConfigurationError

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

_MIME, _KEPT_FOR = "application/octet-stream", timedelta(hours=48)


def _table(name: str, *columns: str, times: str = "") -> Any:
    return sa.table(
        name, *(sa.column(one) for one in columns), *(sa.column(one, UtcDateTime()) for one in times.split())
    )


_ENCODED = ("encoding", "stored_size", "stored_digest")
_BLOB = _table(
    "blob",
    *("id", "digest", "checksum", "size", "storage", "key", "mime", "base_id", *_ENCODED),
    times="created_at verified_at damaged_at tried_at expand_since",
)
_COPY = _table(
    "blob_copy",
    *("id", "blob_id", "digest", "size", "storage", "key", "state", "attempts", "error", "base_digest", *_ENCODED),
    times="next_try wanted_at stored_at verified_at delete_after",
)
_REPLACED = _table("replaced_object", "id", "storage", "key", "size", times="delete_after")
_CONTENT = _table("content", "id", "digest", "checksum", "size", "mime", times="created_at tried_at expand_since")
_OBJECT = _table(
    "object",
    *("id", "content_id", "digest", "size", "storage", "key", "base_digest", "state", "slot", "role", "attempts"),
    *("error", *_ENCODED),
    times="since stored_at read_at delete_after next_try",
)
# Keys are `<2 digits>/<digest>-<nonce>`.
_DIGEST = sa.func.substr(_REPLACED.c.key, 4, 64)


def upgrade() -> None:
    tables = set(sa.inspect(op.get_bind()).get_table_names())
    _create_tables()
    if "replaced_object" in tables:  # the first one that is dropped; an upgrade may have been killed after it
        _fill_contents()
        _fill_objects()
    for table in ("file", "trash") if "blob" in tables else ():
        _name_contents(table)
    for table in ("replaced_object", "blob_copy", "blob"):
        if table in tables:
            op.drop_table(table)
    if op.get_bind().dialect.name == "sqlite":  # the foreign keys follow a table that is renamed
        op.execute("ALTER TABLE content RENAME TO blob")
        op.execute("ALTER TABLE blob RENAME TO content")


def _create_tables() -> None:
    op.create_table(
        "content",
        sa.Column("id", RowId, nullable=False),
        sa.Column("digest", exact(64), nullable=False),
        sa.Column("checksum", exact(32), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mime", sa.String(128), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("tried_at", UtcDateTime(), nullable=True),
        sa.Column("expand_since", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_content")),
        sa.UniqueConstraint("digest", name=op.f("uq_content_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_content_expand_since"), "content", ["expand_since"])
    op.create_table(
        "object",
        sa.Column("id", RowId, nullable=False),
        sa.Column("content_id", RowId, nullable=True),
        sa.Column("digest", exact(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("storage", sa.String(64), nullable=False),
        sa.Column("key", exact(255), nullable=True),
        sa.Column("encoding", sa.String(8), server_default="raw", nullable=False),
        sa.Column("stored_size", sa.BigInteger(), nullable=True),
        sa.Column("stored_digest", exact(64), nullable=True),
        sa.Column("base_digest", exact(64), nullable=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("slot", sa.BigInteger(), nullable=True),
        sa.Column("role", sa.String(8), server_default="first", nullable=False),
        sa.Column("since", UtcDateTime(), nullable=False),
        sa.Column("stored_at", UtcDateTime(), nullable=True),
        sa.Column("read_at", UtcDateTime(), nullable=True),
        sa.Column("delete_after", UtcDateTime(), nullable=True),
        sa.Column("next_try", UtcDateTime(), nullable=True),
        sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["content_id"], ["content.id"], name=op.f("fk_object_content_id_content")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_object")),
        sa.UniqueConstraint("storage", "key", name=op.f("uq_object_storage_key")),
        sa.UniqueConstraint("content_id", "storage", "slot", name=op.f("uq_object_content_id_storage_slot")),
        sqlite_autoincrement=True,
    )
    for name, columns in (
        ("work", ["storage", "state", "next_try"]),
        ("age", ["storage", "state", "since", "size"]),
        ("end", ["storage", "state", "delete_after"]),
        ("check", ["state", "read_at", "stored_at", "id"]),
        ("base", ["base_digest", "storage"]),
        ("digest", ["digest"]),
        ("role", ["role", "storage"]),
    ):
        op.create_index(f"ix_object_{name}", "object", columns)


def _fill_contents() -> None:
    """Insert a content for each digest. What an earlier upgrade has inserted, which was killed, stays."""
    twin = _BLOB.alias()
    oldest = sa.select(sa.func.min(twin.c.id)).where(twin.c.digest == _BLOB.c.digest).scalar_subquery()
    names = ["id", "digest", "checksum", "size", "mime", "created_at", "tried_at", "expand_since"]
    rows = sa.select(*(_BLOB.c[name] for name in names)).where(_BLOB.c.id == oldest, _is_new(_BLOB.c.digest))
    op.execute(_CONTENT.insert().from_select(names, rows))
    _continue_ids()
    names = ["digest", "size", "mime", "created_at"]
    mime = sa.literal(_MIME).label("mime")
    since = sa.func.min(_COPY.c.wanted_at, type_=UtcDateTime())
    copies = sa.select(_COPY.c.digest, sa.func.min(_COPY.c.size), mime, since)
    copies = copies.where(_COPY.c.state != "gone", _is_new(_COPY.c.digest)).group_by(_COPY.c.digest)
    op.execute(_CONTENT.insert().from_select(names, copies))
    end = sa.func.min(_REPLACED.c.delete_after, type_=UtcDateTime())
    replaced = sa.select(_DIGEST, sa.func.max(_REPLACED.c.size), mime, end).where(_is_new(_DIGEST)).group_by(_DIGEST)
    op.execute(_CONTENT.insert().from_select(names, replaced))


def _is_new(digest: Any) -> Any:
    return ~sa.select(_CONTENT.c.id).where(_CONTENT.c.digest == digest).exists()


def _continue_ids() -> None:
    """Give no id twice, not even that of the newest blob if it was deleted."""
    connection, name = op.get_bind(), op.get_bind().dialect.name
    if name == "sqlite":
        last = "SELECT 'content', seq FROM sqlite_sequence WHERE name = 'blob'"
        op.execute("DELETE FROM sqlite_sequence WHERE name = 'content'")
        op.execute(f"INSERT INTO sqlite_sequence (name, seq) {last}")
    elif name == "postgresql":
        last = "pg_sequence_last_value(pg_get_serial_sequence('blob', 'id')::regclass), (SELECT max(id) FROM blob)"
        op.execute(f"SELECT setval(pg_get_serial_sequence('content', 'id'), greatest({last}))")
    else:
        own = "TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'blob'"
        after = connection.scalar(sa.text(f"SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE {own}"))
        op.execute(f"ALTER TABLE content AUTO_INCREMENT = {int(after or 1)}")


def _fill_objects() -> None:
    names = ("content_id", "digest", "size", "storage", "key", *_ENCODED, "base_digest", "state", "slot", "role")
    more = ("since", "stored_at", "read_at", "delete_after", "next_try", "attempts", "error")
    for rows in (_objects_of_blobs(), _objects_of_copies(), _gone_copies(), _replaced_objects()):
        op.execute(_OBJECT.insert().from_select([*names, *more], rows))


def _is_not_there(table: Any) -> Any:
    """Return the condition that an earlier upgrade, which was killed, has not inserted this row."""
    return ~sa.select(_OBJECT.c.id).where(_OBJECT.c.storage == table.c.storage, _OBJECT.c.key == table.c.key).exists()


def _objects_of_blobs() -> Any:
    base, blob, no_time = _BLOB.alias(), _BLOB, sa.null()
    return (
        sa.select(
            *(_CONTENT.c.id, blob.c.digest, blob.c.size, blob.c.storage, blob.c.key),
            *(blob.c[name] for name in _ENCODED),
            base.c.digest,
            sa.case((blob.c.damaged_at.is_(None), "present"), else_="damaged"),
            sa.literal(1),
            sa.literal("first"),
            sa.func.coalesce(blob.c.damaged_at, blob.c.created_at, type_=UtcDateTime()),
            blob.c.created_at,
            blob.c.verified_at,
            *(no_time, no_time, sa.literal(0), no_time),
        )
        .join(_CONTENT, _CONTENT.c.digest == blob.c.digest)
        .join(base, base.c.id == blob.c.base_id, isouter=True)
        .where(_is_not_there(blob))
    )


def _objects_of_copies() -> Any:
    """Return the copies of contents. Of several in one storage, one is the current object."""
    copy, other, blob = _COPY, _COPY.alias(), _BLOB.alias()
    is_present, other_is_present = copy.c.state == "present", other.c.state == "present"
    is_better = sa.or_(
        sa.and_(other_is_present, ~is_present), sa.and_(other_is_present == is_present, other.c.id < copy.c.id)
    )
    same = (other.c.digest == copy.c.digest, other.c.storage == copy.c.storage, other.c.blob_id.is_not(None))
    is_second = sa.or_(
        sa.select(blob.c.id).where(blob.c.digest == copy.c.digest, blob.c.storage == copy.c.storage).exists(),
        sa.select(other.c.id).where(*same, is_better).exists(),
    )
    is_current = sa.and_(copy.c.blob_id.is_not(None), copy.c.state.not_in(["leaving", "gone"]), ~is_second)
    state = sa.case(
        (sa.and_(copy.c.state == "gone", copy.c.key.is_not(None)), "doomed"),
        (sa.and_(copy.c.state == "wanted", copy.c.key.is_not(None)), "writing"),
        (sa.or_(copy.c.blob_id.is_(None), copy.c.state == "leaving"), "leaving"),
        (sa.and_(is_present, is_second), "superseded"),
        else_=copy.c.state,
    )
    soon = sa.literal(utc_now() + _KEPT_FOR, UtcDateTime())
    is_old_present = sa.and_(is_present, sa.or_(is_second, copy.c.blob_id.is_(None)))
    end = sa.case((is_old_present, soon), (copy.c.state == "leaving", copy.c.delete_after), else_=sa.null())
    is_outdated = sa.and_(is_present, copy.c.delete_after.is_not(None))
    lacks = copy.c.state.in_(["wanted", "damaged", "missing"])
    next_try = sa.case((sa.or_(lacks, is_outdated), copy.c.next_try), else_=sa.null())
    stays = sa.or_(copy.c.key.is_not(None), is_current)
    is_new = (
        ~sa.select(_OBJECT.c.id)
        .where(_OBJECT.c.content_id == _CONTENT.c.id, _OBJECT.c.storage == copy.c.storage, _OBJECT.c.slot == 1)
        .exists()
    )
    return (
        sa.select(
            *(_CONTENT.c.id, copy.c.digest, copy.c.size, copy.c.storage, copy.c.key),
            *(copy.c[name] for name in _ENCODED),
            *(copy.c.base_digest, state, sa.case((is_current, 1), else_=sa.null()), sa.literal("copy")),
            sa.func.coalesce(sa.case((lacks, copy.c.wanted_at), else_=copy.c.stored_at), copy.c.wanted_at),
            *(copy.c.stored_at, copy.c.verified_at, end, next_try, copy.c.attempts, copy.c.error),
        )
        .join(_CONTENT, _CONTENT.c.digest == copy.c.digest)
        .where(stays, _is_not_there(copy), sa.or_(copy.c.key.is_not(None), is_new))
    )


def _gone_copies() -> Any:
    """Return what counts as deleted within the last day, for the brake of the job `mirror`."""
    copy, nothing = _COPY, sa.null()
    return sa.select(
        *(nothing, copy.c.digest, copy.c.size, copy.c.storage, nothing),
        *(copy.c[name] for name in _ENCODED),
        *(nothing, sa.literal("gone"), nothing, sa.literal("copy"), copy.c.wanted_at),
        *(nothing, nothing, nothing, copy.c.next_try, sa.literal(0), nothing),
    ).where(copy.c.state == "gone", copy.c.key.is_(None))


def _replaced_objects() -> Any:
    """Return what was replaced within the last days. How it is encoded is in its head, if it is not as large as raw."""
    replaced, nothing = _REPLACED, sa.null()
    is_raw = replaced.c.size == _CONTENT.c.size
    since = sa.literal(utc_now(), UtcDateTime())
    return (
        sa.select(
            *(_CONTENT.c.id, _CONTENT.c.digest, _CONTENT.c.size, replaced.c.storage, replaced.c.key),
            sa.case((is_raw, "raw"), else_="unknown"),
            sa.case((is_raw, nothing), else_=replaced.c.size),
            *(nothing, nothing, sa.case((is_raw, "superseded"), else_="found"), nothing, sa.literal("first"), since),
            *(nothing, nothing, replaced.c.delete_after, nothing, sa.literal(0), nothing),
        )
        .join(_CONTENT, _CONTENT.c.digest == _DIGEST)
        .where(_is_not_there(replaced))
    )


def _name_contents(table: str) -> None:
    """Rename the column. Only the rows of blobs that have become one content with an older one are written."""
    dialect = op.get_bind().dialect.name
    old, new = f"fk_{table}_blob_id_blob", f"fk_{table}_content_id_content"
    columns = {column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)}
    if dialect != "sqlite" and "blob_id" in columns:
        op.drop_constraint(op.f(old), table, type_="foreignkey")
    if "blob_id" in columns:
        op.drop_index(op.f(f"ix_{table}_blob_id"), table)
        if dialect == "sqlite":
            op.execute(f"ALTER TABLE {table} RENAME COLUMN blob_id TO content_id")
        else:
            column: dict[str, Any] = {"existing_type": RowId, "existing_nullable": False}
            op.alter_column(table, "blob_id", new_column_name="content_id", **column)
    user = _table(table, "id", "content_id")
    content = sa.select(_CONTENT.c.id).join(_BLOB, _BLOB.c.digest == _CONTENT.c.digest)
    is_merged = ~sa.select(_CONTENT.c.id).where(_CONTENT.c.id == user.c.content_id).exists()
    of_blob = content.where(_BLOB.c.id == user.c.content_id).scalar_subquery()
    op.execute(sa.update(user).where(is_merged).values(content_id=of_blob))
    op.create_index(op.f(f"ix_{table}_content_id"), table, ["content_id"])
    if dialect != "sqlite":
        op.create_foreign_key(op.f(new), table, "content", ["content_id"], ["id"])


def downgrade() -> None:
    """Raise `ConfigurationError`: earlier versions have no place for what is recorded since."""
    raise ConfigurationError(
        "Contents and objects cannot be taken back to blobs and copies. Restore the database from the backup that was "
        "made before the upgrade"
    )
