"""The table of values that plug-ins keep."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "plugin_value",
        sa.Column("plugin", exact(64), nullable=False),
        sa.Column("key", exact(200), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("plugin", "key", name=op.f("pk_plugin_value")),
    )
