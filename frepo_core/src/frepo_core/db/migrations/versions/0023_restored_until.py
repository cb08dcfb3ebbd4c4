"""Until when a collection has versions that were restored from the trash."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("restored_until", UtcDateTime(), nullable=True))
