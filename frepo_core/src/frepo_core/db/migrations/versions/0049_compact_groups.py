"""A collection may name a group, whose versions become bases of each other; since when a content is only a base."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("compact_group", exact(64), nullable=True))
    op.create_index(op.f("ix_collection_compact_group"), "collection", ["compact_group"])
    op.add_column("content", sa.Column("unused_since", UtcDateTime(), nullable=True))
    op.create_index(op.f("ix_content_unused_since"), "content", ["unused_since"])


def downgrade() -> None:
    op.drop_index(op.f("ix_content_unused_since"), "content")
    op.drop_column("content", "unused_since")
    op.drop_index(op.f("ix_collection_compact_group"), "collection")
    op.drop_column("collection", "compact_group")
