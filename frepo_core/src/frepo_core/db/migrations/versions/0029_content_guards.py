"""Guards against content that grew, is of another kind, or does not change. Existing collections keep them off."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    growth = sa.Column("max_growth_percent", sa.BigInteger(), server_default="0", nullable=False)
    op.add_column("collection", growth)
    for name in ("expects_kind", "expects_change"):
        op.add_column("collection", sa.Column(name, sa.Boolean(), server_default="0", nullable=False))
