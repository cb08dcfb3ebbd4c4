"""A table for the marks that this database leaves in its storages."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "storage_mark",
        sa.Column("storage", exact(64), nullable=False),
        sa.Column("epoch", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("nonce", exact(8), nullable=False),
        sa.Column("is_stored", sa.Boolean(), nullable=False),
        sa.Column("made_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("storage", "epoch", name=op.f("pk_storage_mark")),
    )
