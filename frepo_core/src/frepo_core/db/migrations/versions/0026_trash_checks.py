"""The table of results of checks in the trash."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "trash_check",
        sa.Column("trash_id", RowId, nullable=False),
        sa.Column("name", exact(64), nullable=False),
        sa.Column("outcome", exact(16), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("actor", exact(128), nullable=False),
        sa.ForeignKeyConstraint(
            ["trash_id"], ["trash.id"], name=op.f("fk_trash_check_trash_id_trash"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("trash_id", "name", name=op.f("pk_trash_check")),
    )
