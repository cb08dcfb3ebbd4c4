"""The verdict about each version, and what acts on it: rotation that waits, late condemnations, failed nights."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_BAD = ("broken", "suspicious", "pending")


def upgrade() -> None:
    for table in ("version", "trash"):
        op.add_column(table, sa.Column("verdict", exact(16), server_default="unchecked", nullable=False))
        op.add_column(table, sa.Column("verdict_reason", sa.String(200), nullable=True))
        op.add_column(table, sa.Column("released_at", UtcDateTime(), nullable=True))
        op.add_column(table, sa.Column("released_by", exact(128), nullable=True))
        op.add_column(table, sa.Column("sent_by", exact(64), nullable=True))
    op.add_column("version", sa.Column("pending_since", UtcDateTime(), nullable=True))
    op.add_column("version", sa.Column("condemned_at", UtcDateTime(), nullable=True))
    for table in ("version_check", "trash_check"):
        op.add_column(table, sa.Column("covers", exact(16), nullable=True))
        op.add_column(table, sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False))
    for name in ("pending_count", "pending_size"):
        op.add_column("collection", sa.Column(name, sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("collection", sa.Column("failed_since", UtcDateTime(), nullable=True))
    op.add_column("collection", sa.Column("failed_reason", sa.String(200), nullable=True))
    op.add_column("collection", sa.Column("baseline", sa.JSON(none_as_null=True), nullable=True))
    op.create_index("ix_version_verdict", "version", ["verdict", "collection_id"])
    op.create_index("ix_version_pending_since", "version", ["pending_since"])
    op.create_index("ix_collection_failed_since", "collection", ["failed_since"])
    for table, checks, key in (("version", "version_check", "version_id"), ("trash", "trash_check", "trash_id")):
        _set_verdicts(table, checks, key)
    _set_failed()


def _set_verdicts(table: str, checks: str, key: str) -> None:
    """Set the verdicts that earlier results give. A later statement overrides an earlier one: the worst wins."""
    found = f"SELECT 1 FROM {checks} AS c WHERE c.{key} = {table}.id AND c.name <> 'restore (client)'"
    by_service = "(c.is_of_service = :yes OR c.actor LIKE '%:%')"
    _set(table, "whole", f"EXISTS ({found} AND c.outcome = 'good')")
    _set(table, "restored", f"EXISTS ({found} AND c.name = 'restore' AND c.outcome = 'good' AND {by_service})")
    _set(table, "pending", f"EXISTS ({found} AND c.outcome = 'pending')")
    _set(table, "suspicious", "is_suspicious = :yes")
    _set(table, "broken", f"EXISTS ({found} AND c.outcome = 'broken')")


def _set(table: str, verdict: str, condition: str) -> None:
    statement = sa.text(f"UPDATE {table} SET verdict = :verdict WHERE {condition}")
    values: list[sa.BindParameter[object]] = [sa.bindparam("verdict", verdict)]
    if ":yes" in condition:
        values.append(sa.bindparam("yes", True, sa.Boolean()))
    op.execute(statement.bindparams(*values))


def _set_failed() -> None:
    """Note collections whose newest version is broken; those that were overtaken say nothing."""
    newest = (
        "SELECT MAX(n.number) FROM version AS n WHERE n.collection_id = collection.id"
        " AND COALESCE(n.quarantine_reason, '') <> 'overtaken'"
    )
    broken = (
        f"FROM version AS v WHERE v.collection_id = collection.id AND v.verdict = 'broken' AND v.number = ({newest})"
    )
    op.execute(
        f"UPDATE collection SET failed_since = (SELECT v.created_at {broken}), "
        f"failed_reason = 'The newest version is broken' WHERE EXISTS (SELECT 1 {broken})"
    )
