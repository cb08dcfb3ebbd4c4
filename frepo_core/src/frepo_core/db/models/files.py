"""The tables of files, their bytes and their tags."""

from datetime import datetime

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    String,
    Table,
    UniqueConstraint,
    func,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from ..types import RowId, exact
from .base import Base


class Blob(Base):
    """Bytes in a backend. `damaged_at` is set when they are found to be wrong or missing.

    A content is at most once in each storage. `checksum` is null for a blob from before migration 0004 until it is
    verified.

    `encoding` is `raw`, `zstd` or `delta`, see docs/compact-format.md. `stored_size` and `stored_digest` are those of
    the object in the backend; null means `size` and `digest`, as for each raw blob. `base_id` is the blob that a delta
    needs; it is in the same storage. `tried_at` is when an encoding was tried last and saved too little. `expand_since`
    is since when the blob should be stored raw again, because it is used as a new content.
    """

    __tablename__ = "blob"
    __table_args__ = (
        UniqueConstraint("digest", "storage"),
        Index("ix_blob_check", "verified_at", "created_at", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    digest: Mapped[str] = mapped_column(exact(64))
    checksum: Mapped[str | None] = mapped_column(exact(32))
    size: Mapped[int]
    storage: Mapped[str] = mapped_column(String(64))
    key: Mapped[str] = mapped_column(exact(255), unique=True)
    mime: Mapped[str] = mapped_column(String(128))
    created_at: Mapped[datetime]
    verified_at: Mapped[datetime | None]
    damaged_at: Mapped[datetime | None] = mapped_column(index=True)
    encoding: Mapped[str] = mapped_column(String(8), server_default="raw")
    stored_size: Mapped[int | None]
    stored_digest: Mapped[str | None] = mapped_column(exact(64))
    base_id: Mapped[int | None] = mapped_column(ForeignKey("blob.id"), index=True)
    tried_at: Mapped[datetime | None]
    expand_since: Mapped[datetime | None] = mapped_column(index=True)

    @property
    def object_size(self) -> int:
        """The size of the stored object in bytes."""
        return self.size if self.stored_size is None else self.stored_size

    @property
    def object_digest(self) -> str:
        """The SHA-256 of the stored object."""
        return self.stored_digest or self.digest


# The size of the stored object in bytes, in queries.
OBJECT_SIZE = func.coalesce(Blob.stored_size, Blob.size)


class ReplacedObject(Base):
    """Bytes that a blob had before it was encoded or expanded. They are deleted after `delete_after`.

    A database that is restored from the last night still names them. `size` is in bytes.
    """

    __tablename__ = "replaced_object"
    __table_args__ = (Index("ix_replaced_object_end", "storage", "delete_after"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    storage: Mapped[str] = mapped_column(String(64))
    key: Mapped[str] = mapped_column(exact(255), unique=True)
    size: Mapped[int]
    delete_after: Mapped[datetime]


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


Index("ix_file_listing", File.kind, File.public, File.id)
Index("ix_file_newest", File.kind, File.id)
Index("ix_file_types", File.kind, File.public, File.mime, File.id)
