"""Pinned versions, versions in quarantine, and notes; their counts and sizes per collection."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

COUNTERS = ("pinned_count", "pinned_size", "quarantined_count", "quarantined_size", "quarantine_nights")


def upgrade() -> None:
    op.add_column("version", sa.Column("pinned", sa.Boolean(), server_default="0", nullable=False))
    op.add_column("version", sa.Column("quarantined_at", UtcDateTime(), nullable=True))
    op.add_column("version", sa.Column("quarantine_reason", exact(128), nullable=True))
    op.add_column("version", sa.Column("note", sa.String(1000), server_default=sa.text("''"), nullable=False))
    for name in COUNTERS:
        op.add_column("collection", sa.Column(name, sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("collection", sa.Column("quarantine_reason", exact(128), nullable=True))
    op.add_column("collection", sa.Column("quarantine_counted_at", UtcDateTime(), nullable=True))
