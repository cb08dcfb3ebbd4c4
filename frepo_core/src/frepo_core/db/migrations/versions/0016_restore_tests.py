"""The last restore test of each collection."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("restore_tried_at", UtcDateTime(), nullable=True))
    op.add_column("collection", sa.Column("restore_outcome", exact(16), nullable=True))
    op.create_index("ix_collection_restore", "collection", ["restore_outcome", "versions_count"])
