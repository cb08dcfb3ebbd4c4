"""The database tables as SQLAlchemy models."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from .types import RowId, UtcDateTime, exact

NAMES = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """Base of all models. Constraints get names, so that migrations can refer to them."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy reads it from the class
        datetime: UtcDateTime(),
        list[str]: JSON(),
        int: BigInteger(),
        dict[str, Any]: JSON(),
    }


class Token(Base):
    """An access token, stored under the HMAC of its id.

    `created_by` is as the actor of an event; it is null for tokens from before migration 0017. `last_used_at` and
    `last_used_from` are written once a minute, see `services/access/token_uses.py`.
    """

    __tablename__ = "token"

    key: Mapped[str] = mapped_column(exact(64), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(16), index=True, unique=True)
    expires_at: Mapped[datetime | None] = mapped_column(index=True)
    roles: Mapped[list[str]]
    tags: Mapped[list[str]]
    mimes: Mapped[list[str]]
    max_file_size: Mapped[int]
    user_agents: Mapped[list[str]]
    ip_addresses: Mapped[list[str]]
    created_at: Mapped[datetime]
    name: Mapped[str] = mapped_column(exact(128), server_default=text("''"))
    created_by: Mapped[str | None] = mapped_column(exact(128))
    last_used_at: Mapped[datetime | None]
    last_used_from: Mapped[str | None] = mapped_column(String(64))


class Blob(Base):
    """Bytes in a backend. `damaged_at` is set when they are found to be wrong or missing.

    `checksum` is null for a blob from before migration 0004 until it is verified.
    """

    __tablename__ = "blob"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012  # SQLAlchemy reads it from the class

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    digest: Mapped[str] = mapped_column(exact(64), unique=True)
    checksum: Mapped[str | None] = mapped_column(exact(32))
    size: Mapped[int]
    storage: Mapped[str] = mapped_column(String(64))
    key: Mapped[str] = mapped_column(exact(255), unique=True)
    mime: Mapped[str] = mapped_column(String(128))
    created_at: Mapped[datetime]
    verified_at: Mapped[datetime | None]
    damaged_at: Mapped[datetime | None] = mapped_column(index=True)


file_tag = Table(
    "file_tag",
    Base.metadata,
    Column("file_id", ForeignKey("file.id", ondelete="CASCADE"), primary_key=True),
    Column("tag_id", ForeignKey("tag.id"), primary_key=True),
    Index("ix_file_tag_newest", "tag_id", "file_id"),
)


class Tag(Base):
    """A tag, in lower case."""

    __tablename__ = "tag"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    name: Mapped[str] = mapped_column(exact(64), unique=True)


class File(Base):
    """A stored name for a blob. `kind` is `plain` or `version`. `mime` repeats the blob's, for listings by type."""

    __tablename__ = "file"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012  # SQLAlchemy reads it from the class

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    stored_name: Mapped[str] = mapped_column(exact(255), unique=True)
    requested_name: Mapped[str] = mapped_column(exact(255))
    blob_id: Mapped[int] = mapped_column(ForeignKey("blob.id"), index=True)
    public: Mapped[bool] = mapped_column(Boolean)
    password_hash: Mapped[str | None] = mapped_column(String(255))
    created_at: Mapped[datetime]
    kind: Mapped[str] = mapped_column(String(16))
    mime: Mapped[str | None] = mapped_column(String(128))

    blob: Mapped[Blob] = relationship()
    tags: Mapped[list[Tag]] = relationship(secondary=file_tag, passive_deletes=True, order_by=Tag.name)


class Collection(Base):
    """A collection. Its counters are updated in the same transaction as its versions.

    `full_since` is set when an upload is refused because there is no room, until the next one is accepted.
    `suspicious_since` is the time of the newest version if that is suspicious. `arrived_at` is when a version was added
    last; it stays if that version is deleted. `created_by` is as the actor of an event.

    `expected_every` is null if no backups are expected; `expected_since` is when it was set. `grace` is in seconds, null:
    the default. From them and from the last arrival follow `due_at` and `overdue_at`, the end of the grace.
    `reported_overdue_at` is the value of `overdue_at` about which an event was written.
    `restore_tried_at` and `restore_outcome` are those of the last restore test, whose version may have been deleted.
    """

    __tablename__ = "collection"
    __table_args__ = (
        Index("ix_collection_newest", "created_at", "id"),
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
    guard_action: Mapped[str] = mapped_column(String(16), server_default="refuse")
    full_since: Mapped[datetime | None] = mapped_column(index=True)
    strategy_options: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    created_by: Mapped[str | None] = mapped_column(exact(128))
    labels: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
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


class CollectionToken(Base):
    """A token on a collection's list."""

    __tablename__ = "collection_token"

    collection_id: Mapped[str] = mapped_column(
        exact(36), ForeignKey("collection.id", ondelete="CASCADE"), primary_key=True
    )
    token_key: Mapped[str] = mapped_column(
        exact(64), ForeignKey("token.key", ondelete="CASCADE"), primary_key=True, index=True
    )


class Version(Base):
    """One version in a collection. A number is never used twice.

    `is_suspicious` says that the version violates a guard and was kept, so later versions are not compared with it. It
    is null for versions from before migration 0005.
    """

    __tablename__ = "version"
    __table_args__ = (UniqueConstraint("collection_id", "number"),)

    id: Mapped[str] = mapped_column(exact(36), primary_key=True)
    collection_id: Mapped[str] = mapped_column(exact(36), ForeignKey("collection.id"))
    number: Mapped[int]
    file_id: Mapped[int] = mapped_column(ForeignKey("file.id"), unique=True)
    created_at: Mapped[datetime]
    is_suspicious: Mapped[bool | None] = mapped_column(Boolean)

    file: Mapped[File] = relationship()


class VersionCheck(Base):
    """The result of a check of a version's content: one for each check, replaced by a later result.

    `outcome` is `good`, `broken`, `pending` or `not checked`. `actor` is as in an event.
    """

    __tablename__ = "version_check"
    __table_args__ = (Index("ix_version_check_queue", "name", "outcome", "at", "version_id"),)

    version_id: Mapped[str] = mapped_column(exact(36), ForeignKey("version.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    outcome: Mapped[str] = mapped_column(exact(16))
    message: Mapped[str] = mapped_column(Text)
    details: Mapped[dict[str, Any]]
    at: Mapped[datetime]
    actor: Mapped[str] = mapped_column(exact(128))


class Upload(Base):
    """The recorded answer to an upload with an Idempotency-Key, kept for a day.

    `file_id` is the file that the answer names. It may have been deleted since.
    """

    __tablename__ = "upload"

    key: Mapped[str] = mapped_column(exact(64), primary_key=True)
    digest: Mapped[str] = mapped_column(exact(64))
    answer: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(index=True)
    file_id: Mapped[int | None] = mapped_column(index=True)


class Installation(Base):
    """A named value about the installation that uses the database."""

    __tablename__ = "installation"

    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    value: Mapped[str] = mapped_column(String(255))


class Event(Base):
    """Something that happened, written in the transaction of the fact. Its objects may have been deleted since.

    `position` is its place in the order of commits. It is null until the worker that leads has numbered the row, as an
    event with a lower id may be committed after one with a higher id. An index finds such rows: on
    PostgreSQL `ix_event_unnumbered` of migration 0008, elsewhere that of the positions. `actor` is a token's fingerprint,
    `system:<job>`, `console:<user>` or `anonymous`; `actor_name` is the token's name at that time. `token` is the
    fingerprint of the token that the event is about.
    """

    __tablename__ = "event"
    __table_args__ = (
        Index("ix_event_kind", "kind", "position"),
        Index("ix_event_collection", "collection_id", "position"),
        Index("ix_event_actor", "actor", "position"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    position: Mapped[int | None] = mapped_column(index=True, unique=True)
    at: Mapped[datetime] = mapped_column(index=True)
    kind: Mapped[str] = mapped_column(exact(64))
    actor: Mapped[str] = mapped_column(exact(128))
    actor_name: Mapped[str | None] = mapped_column(String(255))
    address: Mapped[str | None] = mapped_column(String(64))
    collection_id: Mapped[str | None] = mapped_column(exact(36))
    version_number: Mapped[int | None]
    file_id: Mapped[int | None]
    token: Mapped[str | None] = mapped_column(String(16))
    data: Mapped[dict[str, Any]]


Index("ix_file_listing", File.kind, File.public, File.id)
Index("ix_file_newest", File.kind, File.id)
Index("ix_file_types", File.kind, File.public, File.mime, File.id)
