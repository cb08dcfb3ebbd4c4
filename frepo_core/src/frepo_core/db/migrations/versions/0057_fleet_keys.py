"""The keys of collections and tokens in a fleet file, which stay with them whatever their names are."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

TABLES = ("collection", "token")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("fleet_key", exact(128), nullable=True))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "fleet_key")
