"""Expected backups, labels and the facts from which the states of collections follow; more columns of samples."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

TIMES = ("arrived_at", "due_at", "overdue_at", "reported_overdue_at", "suspicious_since")


def upgrade() -> None:
    op.add_column("collection", sa.Column("created_by", exact(128), nullable=True))
    op.add_column("collection", sa.Column("labels", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("collection", sa.Column("expected_every", sa.String(255), nullable=True))
    op.add_column("collection", sa.Column("expected_since", UtcDateTime(), nullable=True))
    op.add_column("collection", sa.Column("grace", sa.BigInteger(), nullable=True))
    for name in TIMES:
        op.add_column("collection", sa.Column(name, UtcDateTime(), nullable=True))
    for name in ("sent", "uploads", "refusals"):
        op.add_column("sample", sa.Column(name, sa.BigInteger(), nullable=True))
    for name in (*TIMES, "full_since"):
        op.create_index(op.f(f"ix_collection_{name}"), "collection", [name])
    _fill()


def _fill() -> None:
    """Read from versions and events what is known about collections that exist."""
    collection = sa.table("collection", *map(sa.column, ("id", "arrived_at", "suspicious_since", "created_by")))
    version = sa.table("version", *map(sa.column, ("collection_id", "number", "created_at", "is_suspicious")))
    event = sa.table("event", *map(sa.column, ("id", "kind", "collection_id", "actor")))
    newest = version.alias("newest")
    last = sa.select(sa.func.max(newest.c.number)).where(newest.c.collection_id == version.c.collection_id)
    of_collection = sa.select(version.c.created_at).where(
        version.c.collection_id == collection.c.id, version.c.number == last.scalar_subquery()
    )
    creation = sa.select(event.c.actor).where(
        event.c.collection_id == collection.c.id, event.c.kind == "collection.created"
    )
    op.execute(
        collection.update().values(
            arrived_at=of_collection.scalar_subquery(),
            suspicious_since=of_collection.where(version.c.is_suspicious == sa.true()).scalar_subquery(),
            created_by=creation.order_by(event.c.id.desc()).limit(1).scalar_subquery(),
        )
    )
