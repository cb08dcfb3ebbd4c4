"""The runs of backup jobs that clients report, and the last one of each collection."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "run",
        sa.Column("id", RowId, nullable=False),
        sa.Column("incarnation", exact(36), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("outcome", exact(16), nullable=False),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=True),
        sa.Column("seconds", sa.BigInteger(), nullable=True),
        sa.Column("exit_statuses", sa.JSON(), nullable=False),
        sa.Column("error_output", sa.Text(), nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("client", sa.String(255), nullable=False),
        sa.Column("version_number", sa.BigInteger(), nullable=True),
        sa.Column("sha256", exact(64), nullable=True),
        sa.Column("actor", exact(128), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_run_incarnation", "run", ["incarnation", "id"])
    op.create_index(op.f("ix_run_at"), "run", ["at"])
    op.add_column("collection", sa.Column("last_run_at", UtcDateTime(), nullable=True))
    op.add_column("collection", sa.Column("last_run_outcome", exact(16), nullable=True))
    op.add_column("collection", sa.Column("last_run_reason", sa.String(200), nullable=True))
