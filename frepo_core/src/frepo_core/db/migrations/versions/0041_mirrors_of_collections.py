"""A collection may name the storage that has second copies of its versions."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("mirror", exact(64), nullable=True))
