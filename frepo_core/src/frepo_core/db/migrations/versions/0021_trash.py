"""The trash: tables of versions and collections that can be restored, and what distinguishes collections of one id."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("incarnation", exact(36), nullable=True))
    op.add_column("version", sa.Column("protected_until", UtcDateTime(), nullable=True))
    op.add_column("sample", sa.Column("trash", sa.BigInteger(), nullable=True))
    _create_trash()
    _create_deleted_collections()


def _create_trash() -> None:
    op.create_table(
        "trash",
        sa.Column("id", RowId, nullable=False),
        sa.Column("collection_id", exact(36), nullable=False),
        sa.Column("incarnation", exact(36), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("blob_id", RowId, nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("digest", exact(64), nullable=False),
        sa.Column("reason", sa.String(32), nullable=False),
        sa.Column("evicted_at", UtcDateTime(), nullable=False),
        sa.Column("evicted_by", exact(128), nullable=False),
        sa.Column("ends_at", UtcDateTime(), nullable=False),
        sa.Column("version_id", exact(36), nullable=False),
        sa.Column("name", exact(255), nullable=False),
        sa.Column("password_hash", sa.String(255), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("is_suspicious", sa.Boolean(), nullable=True),
        sa.Column("quarantine_reason", exact(128), nullable=True),
        sa.Column("note", sa.String(1000), server_default=sa.text("''"), nullable=False),
        sa.Column("checks", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["blob_id"], ["blob.id"], name=op.f("fk_trash_blob_id_blob")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trash")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_trash_number", "trash", ["incarnation", "number"])
    op.create_index(op.f("ix_trash_blob_id"), "trash", ["blob_id"])
    op.create_index(op.f("ix_trash_ends_at"), "trash", ["ends_at"])


def _create_deleted_collections() -> None:
    op.create_table(
        "deleted_collection",
        sa.Column("incarnation", exact(36), nullable=False),
        sa.Column("collection_id", exact(36), nullable=False),
        sa.Column("name", exact(255), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("deleted_at", UtcDateTime(), nullable=False),
        sa.Column("deleted_by", exact(128), nullable=False),
        sa.Column("ends_at", UtcDateTime(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("incarnation", name=op.f("pk_deleted_collection")),
    )
    op.create_index(op.f("ix_deleted_collection_collection_id"), "deleted_collection", ["collection_id"])
    op.create_index(op.f("ix_deleted_collection_ends_at"), "deleted_collection", ["ends_at"])
    op.create_table(
        "deleted_collection_token",
        sa.Column("incarnation", exact(36), nullable=False),
        sa.Column("token_key", exact(64), nullable=False),
        sa.ForeignKeyConstraint(
            ["incarnation"],
            ["deleted_collection.incarnation"],
            name=op.f("fk_deleted_collection_token_incarnation_deleted_collection"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["token_key"], ["token.key"], name=op.f("fk_deleted_collection_token_token_key_token"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("incarnation", "token_key", name=op.f("pk_deleted_collection_token")),
    )
    op.create_index(op.f("ix_deleted_collection_token_token_key"), "deleted_collection_token", ["token_key"])
