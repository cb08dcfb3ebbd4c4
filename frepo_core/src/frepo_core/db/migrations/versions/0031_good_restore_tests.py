"""When a restore test of each collection was good last."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("restore_tested_at", UtcDateTime(), nullable=True))
    good = (
        "SELECT MAX(c.at) FROM version_check AS c JOIN version AS v ON v.id = c.version_id"
        " WHERE v.collection_id = collection.id AND v.verdict = 'restored' AND c.name = 'restore'"
    )
    op.execute(f"UPDATE collection SET restore_tested_at = ({good})")
    op.execute("UPDATE collection SET restore_tested_at = restore_tried_at WHERE restore_outcome = 'good'")
