"""The table of runs of jobs that were requested."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "job_request",
        sa.Column("name", exact(64), nullable=False),
        sa.Column("requested_at", UtcDateTime(), nullable=False),
        sa.Column("requested_by", exact(128), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_job_request")),
    )
