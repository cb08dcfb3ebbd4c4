"""What the uploads of each client have noted when they began, and which tokens are of one client."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("token", sa.Column("first_key", exact(64), nullable=True))
    op.create_table(
        "collection_sender",
        sa.Column("incarnation", exact(36), nullable=False),
        sa.Column("client", exact(64), nullable=False),
        sa.Column("noted", sa.BigInteger(), nullable=False),
        sa.Column("noted_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("incarnation", "client", name=op.f("pk_collection_sender")),
    )
    op.create_index(op.f("ix_collection_sender_noted_at"), "collection_sender", ["noted_at"])
