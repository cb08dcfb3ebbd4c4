"""The tokens that have replaced themselves: which chain they are in, and which token they replaced."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("token", sa.Column("chain_key", exact(64), nullable=True))
    op.add_column("token", sa.Column("replaces_key", exact(64), nullable=True))
    op.create_index(op.f("ix_token_chain_key"), "token", ["chain_key"])
