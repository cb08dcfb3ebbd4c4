"""Marks of versions that violate a guard, and the files that recorded answers name."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("version", sa.Column("is_suspicious", sa.Boolean(), nullable=True))
    op.add_column("upload", sa.Column("file_id", sa.BigInteger(), nullable=True))
    op.create_index(op.f("ix_upload_file_id"), "upload", ["file_id"], unique=False)
