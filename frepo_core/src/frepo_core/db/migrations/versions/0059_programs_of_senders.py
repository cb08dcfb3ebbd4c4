"""From which programs and hosts the uploads of each client come."""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection_sender", sa.Column("seen", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    op.drop_column("collection_sender", "seen")
