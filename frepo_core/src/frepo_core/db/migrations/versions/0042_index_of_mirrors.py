"""An index that finds the collections with their second copies in a storage that is not configured any more."""

from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(op.f("ix_collection_mirror"), "collection", ["mirror"])
