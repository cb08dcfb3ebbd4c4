"""A table for values about the installation, such as the check value of the token phrase."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "installation",
        sa.Column("name", exact(64), nullable=False),
        sa.Column("value", sa.String(255), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_installation")),
    )
