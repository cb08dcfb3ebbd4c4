"""Until when storages were told to keep the bytes of locked versions."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "retained",
        sa.Column("storage", sa.String(64), nullable=False),
        sa.Column("key", exact(255), nullable=False),
        sa.Column("until", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("storage", "key", name=op.f("pk_retained")),
    )
    op.create_index(op.f("ix_retained_until"), "retained", ["until"])
