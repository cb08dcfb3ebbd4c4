"""The options of a collection for its strategy."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("strategy_options", sa.JSON(none_as_null=True), nullable=True))
