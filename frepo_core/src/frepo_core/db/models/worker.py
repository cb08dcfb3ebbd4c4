"""The tables of the worker: leases, jobs and their runs, subscriptions and parked events."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from ..types import RowId, exact
from .base import Base


class Lease(Base):
    """A right that one process at a time holds: to lead (`worker`), or to run the jobs of a lane (`lane:short`).

    `holder` is null if the lease is free. `epoch` rises each time that somebody gets the lease, `renewals` each time
    that the row changes. `expires_at` is a time of the database's clock.
    """

    __tablename__ = "lease"

    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    holder: Mapped[str | None] = mapped_column(String(255))
    epoch: Mapped[int]
    renewals: Mapped[int]
    expires_at: Mapped[datetime]


class JobState(Base):
    """When a job is due next. `next_at` is null if its schedule is `off`.

    `schedule` is the text that `next_at` was calculated from. `failing_since` is the start of the first of the failed
    runs since the last good one; `reported_at` is when the latest event about them was recorded.
    """

    __tablename__ = "job"

    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    schedule: Mapped[str] = mapped_column(String(255))
    next_at: Mapped[datetime | None]
    failing_since: Mapped[datetime | None]
    reported_at: Mapped[datetime | None]


class JobRequest(Base):
    """A requested run of a job, until the worker that leads starts it. `requested_by` is as in an event."""

    __tablename__ = "job_request"

    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    requested_at: Mapped[datetime]
    requested_by: Mapped[str] = mapped_column(exact(128))


class JobRun(Base):
    """One run of a job. `ended_at` and `outcome` are null while it runs.

    `epoch` is that of the lane's lease: an unfinished run of an earlier epoch was lost. `cause` is `schedule`, or the
    user of `frepo` who requested the run.
    """

    __tablename__ = "job_run"
    __table_args__ = (
        Index("ix_job_run_name", "name", "started_at"),
        Index("ix_job_run_lane", "lane", "ended_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    name: Mapped[str] = mapped_column(exact(64))
    lane: Mapped[str] = mapped_column(String(16))
    epoch: Mapped[int]
    holder: Mapped[str] = mapped_column(String(255))
    cause: Mapped[str] = mapped_column(String(128))
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    outcome: Mapped[str | None] = mapped_column(String(16))
    progress: Mapped[str | None] = mapped_column(String(255))
    summary: Mapped[dict[str, Any] | None]
    error: Mapped[str | None] = mapped_column(Text)


class Subscription(Base):
    """How far the delivery of events to a subscriber has come.

    `position` is that of the last event that is done. `tries`, `next_at` and `error` are about the event after it, if
    it has failed. `epoch` is that of the leader who delivers: the updates of an earlier leader change nothing.
    """

    __tablename__ = "subscription"

    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    position: Mapped[int]
    epoch: Mapped[int]
    tries: Mapped[int]
    next_at: Mapped[datetime | None]
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime]


class ParkedEvent(Base):
    """An event that a subscriber could not handle in all its tries. `retry_at` is set when a new try was requested."""

    __tablename__ = "parked_event"
    __table_args__ = (UniqueConstraint("subscription", "event_id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    subscription: Mapped[str] = mapped_column(exact(64))
    event_id: Mapped[int]
    kind: Mapped[str] = mapped_column(String(64))
    tries: Mapped[int]
    error: Mapped[str] = mapped_column(Text)
    parked_at: Mapped[datetime]
    retry_at: Mapped[datetime | None] = mapped_column(index=True)
