"""The table of aliases."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "alias",
        sa.Column("name", exact(255), nullable=False),
        sa.Column("file", exact(255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_alias")),
    )
