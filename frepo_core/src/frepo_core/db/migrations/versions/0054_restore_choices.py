"""How collections are restore-tested, and what clients measure at the source."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "restore_choice",
        sa.Column("incarnation", exact(36), nullable=False),
        sa.Column("engine", exact(64), nullable=True),
        sa.Column("assertions", sa.JSON(), nullable=False),
        sa.Column("filled", sa.JSON(none_as_null=True), nullable=True),
        sa.PrimaryKeyConstraint("incarnation", name=op.f("pk_restore_choice")),
    )
    op.add_column("run", sa.Column("measured", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    op.drop_column("run", "measured")
    op.drop_table("restore_choice")
