"""The locks of collections, and until when each version is locked."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("locked", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("version", sa.Column("locked_until", UtcDateTime(), nullable=True))
    op.create_index(op.f("ix_version_locked_until"), "version", ["locked_until"])
    op.add_column("trash", sa.Column("locked_until", UtcDateTime(), nullable=True))
