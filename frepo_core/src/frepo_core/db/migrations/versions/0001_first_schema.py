"""The first schema."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "blob",
        sa.Column("id", RowId, nullable=False),
        sa.Column("digest", exact(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("storage", sa.String(length=64), nullable=False),
        sa.Column("key", exact(255), nullable=False),
        sa.Column("mime", sa.String(length=128), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("verified_at", UtcDateTime(), nullable=True),
        sa.Column("damaged_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blob")),
        sa.UniqueConstraint("digest", name=op.f("uq_blob_digest")),
        sa.UniqueConstraint("key", name=op.f("uq_blob_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "collection",
        sa.Column("id", exact(36), nullable=False),
        sa.Column("max_backups_count", sa.BigInteger(), nullable=False),
        sa.Column("max_one_version_size", sa.BigInteger(), nullable=False),
        sa.Column("max_collection_size", sa.BigInteger(), nullable=False),
        sa.Column("strategy", sa.String(length=64), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("filename", exact(255), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("last_number", sa.BigInteger(), nullable=False),
        sa.Column("versions_count", sa.BigInteger(), nullable=False),
        sa.Column("stored_size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collection")),
    )
    op.create_index(op.f("ix_collection_created_at"), "collection", ["created_at"], unique=False)

    op.create_table(
        "tag",
        sa.Column("id", RowId, nullable=False),
        sa.Column("name", exact(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tag")),
        sa.UniqueConstraint("name", name=op.f("uq_tag_name")),
    )
    op.create_table(
        "token",
        sa.Column("key", exact(64), nullable=False),
        sa.Column("fingerprint", sa.String(length=16), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=True),
        sa.Column("roles", sa.JSON(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("mimes", sa.JSON(), nullable=False),
        sa.Column("max_file_size", sa.BigInteger(), nullable=False),
        sa.Column("user_agents", sa.JSON(), nullable=False),
        sa.Column("ip_addresses", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_token")),
    )
    op.create_index(op.f("ix_token_expires_at"), "token", ["expires_at"], unique=False)

    op.create_table(
        "collection_token",
        sa.Column("collection_id", exact(36), nullable=False),
        sa.Column("token_key", exact(64), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("fk_collection_token_collection_id_collection"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["token_key"], ["token.key"], name=op.f("fk_collection_token_token_key_token"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("collection_id", "token_key", name=op.f("pk_collection_token")),
    )
    op.create_index(op.f("ix_collection_token_token_key"), "collection_token", ["token_key"], unique=False)

    op.create_table(
        "file",
        sa.Column("id", RowId, nullable=False),
        sa.Column("stored_name", exact(255), nullable=False),
        sa.Column("requested_name", exact(255), nullable=False),
        sa.Column("blob_id", RowId, nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(["blob_id"], ["blob.id"], name=op.f("fk_file_blob_id_blob")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file")),
        sa.UniqueConstraint("stored_name", name=op.f("uq_file_stored_name")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_file_blob_id"), "file", ["blob_id"], unique=False)
    op.create_index("ix_file_listing", "file", ["kind", "public", "id"], unique=False)

    op.create_table(
        "file_tag",
        sa.Column("file_id", RowId, nullable=False),
        sa.Column("tag_id", RowId, nullable=False),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_file_tag_file_id_file"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["tag_id"], ["tag.id"], name=op.f("fk_file_tag_tag_id_tag")),
        sa.PrimaryKeyConstraint("file_id", "tag_id", name=op.f("pk_file_tag")),
    )
    op.create_index(op.f("ix_file_tag_tag_id"), "file_tag", ["tag_id"], unique=False)

    op.create_table(
        "version",
        sa.Column("id", exact(36), nullable=False),
        sa.Column("collection_id", exact(36), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("file_id", RowId, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collection.id"], name=op.f("fk_version_collection_id_collection")),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_version_file_id_file")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_version")),
        sa.UniqueConstraint("collection_id", "number", name=op.f("uq_version_collection_id_number")),
        sa.UniqueConstraint("file_id", name=op.f("uq_version_file_id")),
    )
