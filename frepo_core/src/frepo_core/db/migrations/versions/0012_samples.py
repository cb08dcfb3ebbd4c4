"""A table for the sizes of collections and of the service, one row for each day."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sample",
        sa.Column("id", RowId, nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("collection_id", exact(36), nullable=True),
        sa.Column("versions", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("blobs", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sample")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_sample_at"), "sample", ["at"])
    op.create_index("ix_sample_collection", "sample", ["collection_id", "at"])
