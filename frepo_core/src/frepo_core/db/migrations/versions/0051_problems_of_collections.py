"""Problems of collections that plug-ins report."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("problems", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("collection", sa.Column("problem_since", UtcDateTime(), nullable=True))
    op.create_index(op.f("ix_collection_problem_since"), "collection", ["problem_since"])


def downgrade() -> None:
    op.drop_index(op.f("ix_collection_problem_since"), table_name="collection")
    op.drop_column("collection", "problem_since")
    op.drop_column("collection", "problems")
