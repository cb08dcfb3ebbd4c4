"""Guards against sizes that decline slowly, and contents that do not change for days. Collections keep them off."""

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

_COLUMNS = ("max_decline_percent", "max_unchanged")


def upgrade() -> None:
    for name in _COLUMNS:
        op.add_column("collection", sa.Column(name, sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    for name in _COLUMNS:
        op.drop_column("collection", name)
