"""Several storages: a content may be in each of them once, and a collection says in which one its versions are stored.

SQLite cannot drop a constraint, so the table is made again there. `migrations.upgrade` switches the checks of foreign
keys off, which refer to it by its name.
"""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_COLUMNS = "id, digest, checksum, size, storage, key, mime, created_at, verified_at, damaged_at"


def upgrade() -> None:
    op.add_column("collection", sa.Column("storage", exact(64), nullable=True))
    if op.get_bind().dialect.name == "sqlite":
        _make_again()
        return
    op.create_unique_constraint(op.f("uq_blob_digest_storage"), "blob", ["digest", "storage"])
    op.drop_constraint(op.f("uq_blob_digest"), "blob", type_="unique")


def _make_again() -> None:
    op.create_table(
        "blob_of_0037",
        sa.Column("id", RowId, nullable=False),
        sa.Column("digest", exact(64), nullable=False),
        sa.Column("checksum", exact(32), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("storage", sa.String(length=64), nullable=False),
        sa.Column("key", exact(255), nullable=False),
        sa.Column("mime", sa.String(length=128), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("verified_at", UtcDateTime(), nullable=True),
        sa.Column("damaged_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blob")),
        sa.UniqueConstraint("digest", "storage", name=op.f("uq_blob_digest_storage")),
        sa.UniqueConstraint("key", name=op.f("uq_blob_key")),
        sqlite_autoincrement=True,
    )
    op.execute(f"INSERT INTO blob_of_0037 ({_COLUMNS}) SELECT {_COLUMNS} FROM blob")
    # No id is given twice, not even that of the newest blob if it was deleted.
    last = op.get_bind().scalar(sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'blob'"))
    op.drop_table("blob")
    op.execute("ALTER TABLE blob_of_0037 RENAME TO blob")
    if last is not None:
        op.execute("DELETE FROM sqlite_sequence WHERE name = 'blob'")
        op.execute(sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES ('blob', :last)").bindparams(last=last))
    op.create_index(op.f("ix_blob_damaged_at"), "blob", ["damaged_at"])
