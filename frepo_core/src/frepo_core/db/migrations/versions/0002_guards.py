"""Guards of collections against empty dumps, and answers of uploads with an Idempotency-Key."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("min_retention", "min_version_size", "max_shrink_percent"):
        op.add_column("collection", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("collection", sa.Column("guard_action", sa.String(16), nullable=False, server_default="refuse"))
    op.create_table(
        "upload",
        sa.Column("key", exact(64), nullable=False),
        sa.Column("digest", exact(64), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_upload")),
    )
    op.create_index(op.f("ix_upload_created_at"), "upload", ["created_at"], unique=False)
