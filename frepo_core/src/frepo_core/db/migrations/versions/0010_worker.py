"""The tables of the worker: leases, jobs, runs, subscriptions and parked events."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "lease",
        sa.Column("name", exact(64), nullable=False),
        sa.Column("holder", sa.String(255), nullable=True),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("renewals", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_lease")),
    )
    op.create_table(
        "job",
        sa.Column("name", exact(64), nullable=False),
        sa.Column("schedule", sa.String(255), nullable=False),
        sa.Column("next_at", UtcDateTime(), nullable=True),
        sa.Column("failing_since", UtcDateTime(), nullable=True),
        sa.Column("reported_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_job")),
    )
    op.create_table(
        "job_run",
        sa.Column("id", RowId, nullable=False),
        sa.Column("name", exact(64), nullable=False),
        sa.Column("lane", sa.String(16), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.String(255), nullable=False),
        sa.Column("cause", sa.String(128), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("outcome", sa.String(16), nullable=True),
        sa.Column("progress", sa.String(255), nullable=True),
        sa.Column("summary", sa.JSON(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_run")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_job_run_name", "job_run", ["name", "started_at"])
    op.create_index("ix_job_run_lane", "job_run", ["lane", "ended_at"])
    op.create_table(
        "subscription",
        sa.Column("name", exact(64), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("tries", sa.BigInteger(), nullable=False),
        sa.Column("next_at", UtcDateTime(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_subscription")),
    )
    op.create_table(
        "parked_event",
        sa.Column("id", RowId, nullable=False),
        sa.Column("subscription", exact(64), nullable=False),
        sa.Column("event_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("tries", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("parked_at", UtcDateTime(), nullable=False),
        sa.Column("retry_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_parked_event")),
        sa.UniqueConstraint("subscription", "event_id", name=op.f("uq_parked_event_subscription_event_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_parked_event_retry_at"), "parked_event", ["retry_at"])
