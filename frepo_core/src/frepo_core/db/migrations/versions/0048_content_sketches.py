"""Sketches of contents, which say how much two of them share. The job `compact` makes them."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "content_sketch",
        sa.Column("content_id", RowId, autoincrement=False, nullable=False),
        sa.Column("method", sa.BigInteger(), nullable=False),
        sa.Column("minima", sa.LargeBinary(256), nullable=False),
        sa.ForeignKeyConstraint(
            ["content_id"], ["content.id"], name=op.f("fk_content_sketch_content_id_content"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("content_id", name=op.f("pk_content_sketch")),
    )


def downgrade() -> None:
    op.drop_table("content_sketch")
