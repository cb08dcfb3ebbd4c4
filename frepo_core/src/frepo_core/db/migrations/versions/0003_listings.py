"""Indexes for listings, so that a page costs the same among a thousand files and among a million."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db import name_index

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("file", sa.Column("mime", sa.String(128), nullable=True))
    file, blob = (
        sa.table("file", sa.column("blob_id"), sa.column("mime")),
        sa.table("blob", sa.column("id"), sa.column("mime")),
    )
    op.execute(file.update().values(mime=sa.select(blob.c.mime).where(blob.c.id == file.c.blob_id).scalar_subquery()))
    op.create_index("ix_file_newest", "file", ["kind", "id"])
    op.create_index("ix_file_types", "file", ["kind", "public", "mime", "id"])
    # The new index is created before the old one is dropped: MariaDB's foreign key needs one of them.
    op.create_index("ix_file_tag_newest", "file_tag", ["tag_id", "file_id"])
    op.drop_index(op.f("ix_file_tag_tag_id"), "file_tag")
    op.create_index("ix_collection_newest", "collection", ["created_at", "id"])
    op.drop_index(op.f("ix_collection_created_at"), "collection")
    op.create_index(op.f("ix_blob_damaged_at"), "blob", ["damaged_at"])
    name_index.install(op.get_bind())
