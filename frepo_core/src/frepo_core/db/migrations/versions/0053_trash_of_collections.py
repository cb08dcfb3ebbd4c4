"""How long what leaves a collection stays in the trash, if that is shorter than in the service."""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("trash_keep", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("collection", "trash_keep")
