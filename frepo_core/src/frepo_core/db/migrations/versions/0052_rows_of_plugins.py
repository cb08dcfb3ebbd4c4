"""Copies of the rows of plug-ins that are recovered, and which of them the journal does not have yet."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, exact

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "plugin_row",
        sa.Column("plugin", exact(64), nullable=False),
        sa.Column("table_name", exact(128), nullable=False),
        sa.Column("row_key", exact(200), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("revision", exact(4), nullable=False),
        sa.Column("is_lacking", sa.Boolean(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("plugin", "table_name", "row_key", name=op.f("pk_plugin_row")),
    )
    op.create_index("ix_plugin_row_lacking", "plugin_row", ["is_lacking", "plugin"])
    op.create_table(
        "plugin_row_change",
        sa.Column("id", RowId, nullable=False),
        sa.Column("plugin", exact(64), nullable=False),
        sa.Column("table_name", exact(128), nullable=False),
        sa.Column("row_key", exact(200), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plugin_row_change")),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("plugin_row_change")
    op.drop_table("plugin_row")
