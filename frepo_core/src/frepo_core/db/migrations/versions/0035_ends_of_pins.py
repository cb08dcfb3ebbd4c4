"""When pins end, and why they are there; an index for the list of all pinned versions."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("version", sa.Column("pinned_until", UtcDateTime(), nullable=True))
    op.add_column("version", sa.Column("pin_reason", sa.String(1000), server_default=sa.text("''"), nullable=False))
    op.create_index(op.f("ix_version_pinned_until"), "version", ["pinned_until"])
    op.create_index("ix_version_pinned", "version", ["pinned", "collection_id", "number"])
