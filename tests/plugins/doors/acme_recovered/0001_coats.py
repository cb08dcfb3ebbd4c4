"""Coats of paint, and the walls that they are on."""

import sqlalchemy as sa
from alembic import op

from frepo_core.tables import RowId, UtcDateTime, exact

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "plugin_acme_wall",
        sa.Column("name", exact(300), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("more", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_plugin_acme_wall")),
    )
    op.create_table(
        "plugin_acme_coat",
        sa.Column("id", RowId, nullable=False),
        sa.Column("wall", exact(300), nullable=False),
        sa.Column("layers", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["wall"], ["plugin_acme_wall.name"], name=op.f("fk_plugin_acme_coat_wall")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plugin_acme_coat")),
    )
