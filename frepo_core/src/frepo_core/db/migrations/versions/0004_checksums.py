"""Checksums of blobs, fast enough to verify every download. Existing blobs get theirs when they are verified."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("blob", sa.Column("checksum", exact(32), nullable=True))
