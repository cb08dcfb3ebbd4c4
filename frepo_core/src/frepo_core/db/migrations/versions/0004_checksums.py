"""A checksum beside each digest, fast enough to compare every download with; blobs get theirs as they are read."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("blob", sa.Column("checksum", exact(32), nullable=True))
