"""The tables of the trash: versions and collections that can be restored."""

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from ..types import JsonList, JsonObject, RowId, exact
from .base import Base
from .contents import Content


class TrashEntry(Base):
    """A version that was evicted or deleted, until `ends_at`. It uses its content, so that the bytes stay.

    `incarnation` names the collection even if its id was used again since. `reason` is that of `TrashReason`,
    `evicted_by` is as the actor of an event. `size` and `digest` repeat the content's. The columns from `version_id` to
    `checks` are what a restored version gets back. There is no foreign key to the collection: the entries stay when it
    is deleted.
    """

    __tablename__ = "trash"
    __table_args__ = (Index("ix_trash_number", "incarnation", "number"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    collection_id: Mapped[str] = mapped_column(exact(36))
    incarnation: Mapped[str] = mapped_column(exact(36))
    number: Mapped[int]
    content_id: Mapped[int] = mapped_column(ForeignKey("content.id"), index=True)
    size: Mapped[int]
    digest: Mapped[str] = mapped_column(exact(64))
    reason: Mapped[str] = mapped_column(String(32))
    evicted_at: Mapped[datetime]
    evicted_by: Mapped[str] = mapped_column(exact(128))
    ends_at: Mapped[datetime] = mapped_column(index=True)
    version_id: Mapped[str] = mapped_column(exact(36))
    name: Mapped[str] = mapped_column(exact(255))
    password_hash: Mapped[str | None] = mapped_column(String(255))
    created_at: Mapped[datetime]
    is_suspicious: Mapped[bool | None] = mapped_column(Boolean)
    quarantine_reason: Mapped[str | None] = mapped_column(exact(128))
    note: Mapped[str] = mapped_column(String(1000), server_default=text("''"))
    verdict: Mapped[str] = mapped_column(exact(16), server_default="unchecked")
    verdict_reason: Mapped[str | None] = mapped_column(String(200))
    released_at: Mapped[datetime | None]
    released_by: Mapped[str | None] = mapped_column(exact(128))
    sent_by: Mapped[str | None] = mapped_column(exact(64))
    locked_until: Mapped[datetime | None]
    labels: Mapped[dict[str, Any] | None] = mapped_column(JsonObject(none_as_null=True))
    # From before migration 0026, which brought `trash_check`; since then an empty list. Loaded only for a restore.
    checks: Mapped[list[dict[str, Any]]] = mapped_column(JsonList, deferred=True)

    blob: Mapped[Content] = relationship()


class TrashCheck(Base):
    """The result of a check of a version in the trash. The columns are those of `VersionCheck`."""

    __tablename__ = "trash_check"

    trash_id: Mapped[int] = mapped_column(RowId, ForeignKey("trash.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    outcome: Mapped[str] = mapped_column(exact(16))
    message: Mapped[str] = mapped_column(Text)
    details: Mapped[dict[str, Any]]
    at: Mapped[datetime]
    actor: Mapped[str] = mapped_column(exact(128))
    is_of_service: Mapped[bool] = mapped_column(Boolean, server_default="0")
    covers: Mapped[str | None] = mapped_column(exact(16))
    attempts: Mapped[int] = mapped_column(server_default="0")


class DeletedCollection(Base):
    """A collection that was deleted, until `ends_at`. Its versions are in the trash.

    `incarnation` names it, because several collections may have had its id. `settings` are the columns of its row, as
    JSON. `deleted_by` is as the actor of an event.
    """

    __tablename__ = "deleted_collection"

    incarnation: Mapped[str] = mapped_column(exact(36), primary_key=True)
    collection_id: Mapped[str] = mapped_column(exact(36), index=True)
    name: Mapped[str] = mapped_column(exact(255))
    description: Mapped[str] = mapped_column(Text)
    deleted_at: Mapped[datetime]
    deleted_by: Mapped[str] = mapped_column(exact(128))
    ends_at: Mapped[datetime] = mapped_column(index=True)
    settings: Mapped[dict[str, Any]]


class DeletedCollectionToken(Base):
    """A token that was on the list of a deleted collection."""

    __tablename__ = "deleted_collection_token"

    incarnation: Mapped[str] = mapped_column(
        exact(36), ForeignKey("deleted_collection.incarnation", ondelete="CASCADE"), primary_key=True
    )
    token_key: Mapped[str] = mapped_column(
        exact(64), ForeignKey("token.key", ondelete="CASCADE"), primary_key=True, index=True
    )
