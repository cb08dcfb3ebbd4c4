"""An index in the order in which blobs are checked, so that the next page costs the same among a million of them."""

from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_blob_check", "blob", ["verified_at", "created_at", "id"])
