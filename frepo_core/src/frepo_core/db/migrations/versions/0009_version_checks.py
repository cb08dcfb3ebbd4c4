"""The table of results of checks of versions."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "version_check",
        sa.Column("version_id", exact(36), nullable=False),
        sa.Column("name", exact(64), nullable=False),
        sa.Column("outcome", exact(16), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("actor", exact(128), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_version_check_version_id_version"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("version_id", "name", name=op.f("pk_version_check")),
    )
    op.create_index("ix_version_check_queue", "version_check", ["name", "outcome", "at", "version_id"])
