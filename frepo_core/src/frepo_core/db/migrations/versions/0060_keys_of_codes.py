"""The keys of one-time codes in a fleet file, and the look-up of all such keys."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

TABLES = ("collection", "token", "enrolment_code")


def upgrade() -> None:
    op.add_column("enrolment_code", sa.Column("fleet_key", exact(128), nullable=True))
    for table in TABLES:
        op.create_index(f"ix_{table}_fleet_key", table, ["fleet_key"])


def downgrade() -> None:
    for table in TABLES:
        op.drop_index(f"ix_{table}_fleet_key", table_name=table)
    op.drop_column("enrolment_code", "fleet_key")
