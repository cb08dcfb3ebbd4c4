"""The tables of collections and of the tokens on their lists."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    ForeignKey,
    Index,
    String,
    Text,
)
from sqlalchemy.orm import Mapped, mapped_column

from ..types import JsonList, JsonObject, JsonTexts, exact
from .base import Base


class Collection(Base):
    """A collection. Its counters are updated in the same transaction as its versions.

    `full_since` is set when an upload is refused because there is no room, until the next one is accepted.
    `suspicious_since` is the time of the newest version if that is suspicious. `arrived_at` is when a version was added
    last; it stays if that version is deleted. `created_by` is as the actor of an event.

    `expected_every` is null if no backups are expected; `expected_since` is when it was set. `grace` is in seconds,
    null: the default. From them and from the last arrival follow `due_at` and `overdue_at`, the end of the grace.
    `reported_overdue_at` is the value of `overdue_at` about which an event was written. `incarnation` distinguishes the
    collection from others that had its id before; null stands for the id itself. `restored_until` is the latest
    `protected_until` of a version that was restored from the trash. `restore_tried_at` and `restore_outcome` are those
    of the last restore test, whose version may have been deleted; `restore_tested_at` is when one was good last.

    `versions_count` and `stored_size` count what the limits count: all versions, pinned ones included, but those in
    quarantine and those whose verdict is pending, which `pending_count` and `pending_size` count. `failed_since` is
    when the newest backup was found broken or its run failed, for `failed_reason`, until the next good one. `baseline`
    is what guards compare new versions with. `quarantine_nights` counts the days in a row on which versions were
    quarantined for `quarantine_reason`; `quarantine_counted_at` is the time of the one that was counted last.
    `storage` is where its versions are stored, null: in the first storage. `mirror` is the storage with their second
    copies, null: that of the service, `none`: they have none.
    Versions of collections with the same `compact_group` may be differences to each other's, see docs/compact.md.
    `locked` is how long each version is locked, in seconds; 0: not at all. It never gets less.
    `trash_keep` is how long what leaves it stays in the trash, in seconds; null: as long as the service says.
    `held_since` is since when it is on hold, by `held_by`, for `hold_reason`; null: it is not.
    `fleet_key` is its key in the file of `frepo apply`; null: it is in none.
    `last_run_at` is when a client reported a run of its job last, with the outcome and the reason.
    `problems` are those that plug-ins report: by plug-in and name, each with its message and since when, as in
    `problem_reports`. `problem_since` is since when there is one.
    """

    __tablename__ = "collection"
    __table_args__ = (
        Index("ix_collection_newest", "created_at", "id"),
        Index("ix_collection_name", "filename", "id"),
        Index("ix_collection_size", "stored_size", "id"),
        Index("ix_collection_restore", "restore_outcome", "versions_count"),
    )

    id: Mapped[str] = mapped_column(exact(36), primary_key=True)
    max_backups_count: Mapped[int]
    max_one_version_size: Mapped[int]
    max_collection_size: Mapped[int]
    strategy: Mapped[str] = mapped_column(String(64))
    description: Mapped[str] = mapped_column(Text)
    filename: Mapped[str] = mapped_column(exact(255))
    password_hash: Mapped[str | None] = mapped_column(String(255))
    created_at: Mapped[datetime]
    last_number: Mapped[int]
    versions_count: Mapped[int]
    stored_size: Mapped[int]
    min_retention: Mapped[int] = mapped_column(server_default="0")
    min_version_size: Mapped[int] = mapped_column(server_default="0")
    max_shrink_percent: Mapped[int] = mapped_column(server_default="0")
    max_growth_percent: Mapped[int] = mapped_column(server_default="0")
    expects_kind: Mapped[bool] = mapped_column(Boolean, server_default="0")
    expects_change: Mapped[bool] = mapped_column(Boolean, server_default="0")
    max_decline_percent: Mapped[int] = mapped_column(server_default="0")
    max_unchanged: Mapped[int] = mapped_column(server_default="0")
    guard_action: Mapped[str] = mapped_column(String(16), server_default="refuse")
    full_since: Mapped[datetime | None] = mapped_column(index=True)
    strategy_options: Mapped[dict[str, Any] | None] = mapped_column(JsonObject(none_as_null=True))
    created_by: Mapped[str | None] = mapped_column(exact(128))
    labels: Mapped[list[str] | None] = mapped_column(JsonTexts(none_as_null=True))
    expected_every: Mapped[str | None] = mapped_column(String(255))
    expected_since: Mapped[datetime | None]
    grace: Mapped[int | None]
    arrived_at: Mapped[datetime | None] = mapped_column(index=True)
    due_at: Mapped[datetime | None] = mapped_column(index=True)
    overdue_at: Mapped[datetime | None] = mapped_column(index=True)
    reported_overdue_at: Mapped[datetime | None] = mapped_column(index=True)
    suspicious_since: Mapped[datetime | None] = mapped_column(index=True)
    restore_tried_at: Mapped[datetime | None]
    restore_outcome: Mapped[str | None] = mapped_column(exact(16))
    restore_tested_at: Mapped[datetime | None]
    pinned_count: Mapped[int] = mapped_column(server_default="0")
    pinned_size: Mapped[int] = mapped_column(server_default="0")
    quarantined_count: Mapped[int] = mapped_column(server_default="0")
    quarantined_size: Mapped[int] = mapped_column(server_default="0")
    quarantine_reason: Mapped[str | None] = mapped_column(exact(128))
    quarantine_nights: Mapped[int] = mapped_column(server_default="0")
    quarantine_counted_at: Mapped[datetime | None]
    incarnation: Mapped[str | None] = mapped_column(exact(36))
    restored_until: Mapped[datetime | None]
    pending_count: Mapped[int] = mapped_column(server_default="0")
    pending_size: Mapped[int] = mapped_column(server_default="0")
    failed_since: Mapped[datetime | None] = mapped_column(index=True)
    failed_reason: Mapped[str | None] = mapped_column(String(200))
    baseline: Mapped[dict[str, Any] | None] = mapped_column(JsonObject(none_as_null=True))
    locked: Mapped[int] = mapped_column(server_default="0")
    last_run_at: Mapped[datetime | None]
    last_run_outcome: Mapped[str | None] = mapped_column(exact(16))
    last_run_reason: Mapped[str | None] = mapped_column(String(200))
    storage: Mapped[str | None] = mapped_column(exact(64))
    mirror: Mapped[str | None] = mapped_column(exact(64), index=True)
    compact_group: Mapped[str | None] = mapped_column(exact(64), index=True)
    problems: Mapped[dict[str, Any] | None] = mapped_column(JsonObject(none_as_null=True))
    problem_since: Mapped[datetime | None] = mapped_column(index=True)
    trash_keep: Mapped[int | None]
    held_since: Mapped[datetime | None] = mapped_column(index=True)
    held_by: Mapped[str | None] = mapped_column(exact(128))
    hold_reason: Mapped[str | None] = mapped_column(Text)
    fleet_key: Mapped[str | None] = mapped_column(exact(128), index=True)


class CollectionSender(Base):
    """What the uploads of one client to a collection have noted when they began: the collection's last number.

    `noted` is the greatest number of an accepted version's upload, which began at `noted_at`; that version may
    have been removed since. `seen` are the programs and hosts that it has sent with, each with its first and last day,
    see `frepo_core.domain.backups.senders`. `client` is the key of the first token of a chain of rotations. There is no
    foreign key: a deleted collection can be restored.
    """

    __tablename__ = "collection_sender"

    incarnation: Mapped[str] = mapped_column(exact(36), primary_key=True)
    client: Mapped[str] = mapped_column(exact(64), primary_key=True)
    noted: Mapped[int]
    noted_at: Mapped[datetime] = mapped_column(index=True)
    seen: Mapped[list[Any] | None] = mapped_column(JsonList(none_as_null=True))


class CollectionToken(Base):
    """A token on a collection's list."""

    __tablename__ = "collection_token"

    collection_id: Mapped[str] = mapped_column(
        exact(36), ForeignKey("collection.id", ondelete="CASCADE"), primary_key=True
    )
    token_key: Mapped[str] = mapped_column(
        exact(64), ForeignKey("token.key", ondelete="CASCADE"), primary_key=True, index=True
    )
