"""The version that the answer to an upload with an Idempotency-Key names, so that it is found after it was restored."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("upload", sa.Column("version_id", exact(36), nullable=True))
