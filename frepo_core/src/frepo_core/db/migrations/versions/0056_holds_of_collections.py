"""The hold of a collection: since when nothing leaves it, who has set it, and why."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("held_since", UtcDateTime(), nullable=True))
    op.add_column("collection", sa.Column("held_by", exact(128), nullable=True))
    op.add_column("collection", sa.Column("hold_reason", sa.Text(), nullable=True))
    op.create_index(op.f("ix_collection_held_since"), "collection", ["held_since"])


def downgrade() -> None:
    op.drop_index(op.f("ix_collection_held_since"), table_name="collection")
    op.drop_column("collection", "hold_reason")
    op.drop_column("collection", "held_by")
    op.drop_column("collection", "held_since")
