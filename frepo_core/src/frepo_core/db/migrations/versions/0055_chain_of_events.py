"""The chain over the events: the digest of each event and of all before it."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("event", sa.Column("link", exact(64), nullable=True))


def downgrade() -> None:
    op.drop_column("event", "link")
