"""Whether an operator said that all blobs in a storage are this database's."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("storage_mark", sa.Column("adopted_at", UtcDateTime(), nullable=True))
