"""The walls."""

import sqlalchemy as sa
from alembic import op

from frepo_core.tables import UtcDateTime, exact

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "plugin_acme_wall",
        sa.Column("name", exact(64), nullable=False),
        sa.Column("painted", sa.BigInteger(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_plugin_acme_wall")),
    )
