"""The tables of files and their tags."""

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, Column, ForeignKey, Index, String, Table
from sqlalchemy.orm import Mapped, mapped_column, relationship

from ..types import RowId, exact
from .base import Base
from .contents import Content

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
    """A stored name for a content. `kind` is `plain` or `version`. `mime` repeats the content's, for listings."""

    __tablename__ = "file"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012  # SQLAlchemy reads it from the class

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    stored_name: Mapped[str] = mapped_column(exact(255), unique=True)
    requested_name: Mapped[str] = mapped_column(exact(255))
    content_id: Mapped[int] = mapped_column(ForeignKey("content.id"), index=True)
    public: Mapped[bool] = mapped_column(Boolean)
    password_hash: Mapped[str | None] = mapped_column(String(255))
    created_at: Mapped[datetime]
    kind: Mapped[str] = mapped_column(String(16))
    mime: Mapped[str | None] = mapped_column(String(128))

    blob: Mapped[Content] = relationship()
    tags: Mapped[list[Tag]] = relationship(secondary=file_tag, passive_deletes=True, order_by=Tag.name)


Index("ix_file_listing", File.kind, File.public, File.id)
Index("ix_file_newest", File.kind, File.id)
Index("ix_file_types", File.kind, File.public, File.mime, File.id)


class Alias(Base):
    """Another name for downloads. `file` is a stored name; the file may have been deleted, or be uploaded again."""

    __tablename__ = "alias"

    name: Mapped[str] = mapped_column(exact(255), primary_key=True)
    file: Mapped[str] = mapped_column(exact(255), index=True)
    created_at: Mapped[datetime]


class Upload(Base):
    """The recorded answer to an upload with an Idempotency-Key, kept for 14 days.

    `file_id` is the file that the answer names, `version_id` its version, if it is one's. They may have been deleted
    since.
    """

    __tablename__ = "upload"

    key: Mapped[str] = mapped_column(exact(64), primary_key=True)
    digest: Mapped[str] = mapped_column(exact(64))
    answer: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(index=True)
    file_id: Mapped[int | None] = mapped_column(index=True)
    version_id: Mapped[str | None] = mapped_column(exact(36))
