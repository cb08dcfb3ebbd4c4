"""Indexes for sorting collections by name and size, and what renaming a file needs."""

from alembic import op

from frepo_core.db import name_index

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_collection_name", "collection", ["filename", "id"])
    op.create_index("ix_collection_size", "collection", ["stored_size", "id"])
    op.create_index(op.f("ix_alias_file"), "alias", ["file"])
    name_index.follow_renames(op.get_bind())
