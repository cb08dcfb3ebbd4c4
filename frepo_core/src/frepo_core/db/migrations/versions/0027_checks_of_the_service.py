"""Which results of checks are those of the service and its plug-ins, which no client replaces."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("version_check", "trash_check"):
        op.add_column(table, sa.Column("is_of_service", sa.Boolean(), server_default="0", nullable=False))
