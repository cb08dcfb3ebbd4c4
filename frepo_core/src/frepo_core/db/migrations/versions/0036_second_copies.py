"""The second copies of blobs: which exist, and which are still to be made."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "blob_copy",
        sa.Column("id", RowId, nullable=False),
        sa.Column("blob_id", RowId, nullable=True),
        sa.Column("digest", exact(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("storage", sa.String(64), nullable=False),
        sa.Column("key", exact(255), nullable=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("next_try", UtcDateTime(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("wanted_at", UtcDateTime(), nullable=False),
        sa.Column("stored_at", UtcDateTime(), nullable=True),
        sa.Column("verified_at", UtcDateTime(), nullable=True),
        sa.Column("delete_after", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["blob_id"], ["blob.id"], name=op.f("fk_blob_copy_blob_id_blob"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blob_copy")),
        sa.UniqueConstraint("blob_id", "storage", name=op.f("uq_blob_copy_blob_id_storage")),
        sa.UniqueConstraint("key", name=op.f("uq_blob_copy_key")),
        sqlite_autoincrement=True,
    )
    for name, columns in (
        ("work", ["storage", "state", "next_try"]),
        ("age", ["storage", "state", "wanted_at", "size"]),
        ("end", ["storage", "state", "delete_after"]),
        ("check", ["storage", "state", "verified_at"]),
        ("left", ["blob_id", "state"]),
        ("digest", ["digest", "storage"]),
    ):
        op.create_index(f"ix_blob_copy_{name}", "blob_copy", columns)
