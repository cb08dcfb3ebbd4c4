"""The table of events, and since when a collection refuses uploads because it is full."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "event",
        sa.Column("id", RowId, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=True),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("kind", exact(64), nullable=False),
        sa.Column("actor", exact(128), nullable=False),
        sa.Column("actor_name", sa.String(255), nullable=True),
        sa.Column("address", sa.String(64), nullable=True),
        sa.Column("collection_id", exact(36), nullable=True),
        sa.Column("version_number", sa.BigInteger(), nullable=True),
        sa.Column("file_id", sa.BigInteger(), nullable=True),
        sa.Column("token", sa.String(16), nullable=True),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_event_position"), "event", ["position"], unique=True)
    op.create_index(op.f("ix_event_at"), "event", ["at"])
    op.create_index("ix_event_kind", "event", ["kind", "position"])
    op.create_index("ix_event_collection", "event", ["collection_id", "position"])
    op.create_index("ix_event_actor", "event", ["actor", "position"])
    # The other databases find the rows without a position at one end of the index of the positions, whatever the
    # statistics are. PostgreSQL may prefer to walk through the primary key.
    if op.get_bind().dialect.name == "postgresql":
        op.create_index("ix_event_unnumbered", "event", ["id"], postgresql_where=sa.text("position IS NULL"))
    op.add_column("collection", sa.Column("full_since", UtcDateTime(), nullable=True))
