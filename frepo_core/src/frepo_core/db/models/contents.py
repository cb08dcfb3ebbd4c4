"""The tables of contents and of the objects that hold them: the one record of where bytes are."""

from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    and_,
    case,
    func,
    select,
)
from sqlalchemy.orm import Mapped, aliased, foreign, mapped_column, relationship

from ..types import RowId, exact
from .base import Base

# The states of an object in which it is found sound, see `ObjectState` in `services/content/objects`.
_PRESENT = "present"


class Content(Base):
    """Bytes with a digest, which never change. Files and entries of the trash name contents; objects hold them.

    `checksum` is null for a content from before migration 0004 until it is verified. `tried_at` is when an encoding was
    tried last and saved too little, see `EncodingTrial`. `expand_since` is since when the content should be stored raw
    again, because it was uploaded again. `unused_since` is since when it is used no more, as the job `compact` has
    found, and others need it as their base.
    """

    __tablename__ = "content"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012  # SQLAlchemy reads it from the class

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    digest: Mapped[str] = mapped_column(exact(64), unique=True)
    checksum: Mapped[str | None] = mapped_column(exact(32))
    size: Mapped[int]
    mime: Mapped[str] = mapped_column(String(128))
    created_at: Mapped[datetime]
    tried_at: Mapped[datetime | None]
    expand_since: Mapped[datetime | None] = mapped_column(index=True)
    unused_since: Mapped[datetime | None] = mapped_column(index=True)

    place: Mapped["StoredObject | None"] = relationship(
        primaryjoin=lambda: and_(foreign(StoredObject.content_id) == Content.id, is_place(StoredObject)),
        viewonly=True,
        lazy="joined",
    )


class StoredObject(Base):
    """Bytes under one key in one storage, which hold a content; or the wish for them.

    `state` is that of `ObjectState` in `services/content/objects`, and `since` is since when; for one that is wanted,
    damaged or missing: since when a sound one is lacking. `slot` is 1 for the current object of a content in a
    storage, of which there is one at most, and null for each other. `role` is `first` or `copy`: what it was made for.
    `key` is null while the object is only wanted. `digest` and `size` repeat the content's, which is null when the
    bytes are gone.

    `encoding` is `raw`, `zstd` or `delta`, see docs/compact-format.md. `stored_size` and `stored_digest` are those of
    the bytes under the key; null means `size` and `digest`, as for each raw object. `base_digest` is the SHA-256 of the
    content that a delta needs in the same storage.

    `read_at` is when the bytes were read and compared last, null for never. An object that was superseded, is leaving
    or was found is deleted after `delete_after`. `next_try` is when a job works on it next, `attempts` the number of
    failed attempts since the last success, and `error` the reason of the last.
    """

    __tablename__ = "object"
    __table_args__ = (
        UniqueConstraint("storage", "key"),
        UniqueConstraint("content_id", "storage", "slot"),
        Index("ix_object_work", "storage", "state", "next_try"),
        Index("ix_object_age", "storage", "state", "since", "size"),
        Index("ix_object_end", "storage", "state", "delete_after"),
        Index("ix_object_check", "state", "read_at", "stored_at", "id"),
        Index("ix_object_base", "base_digest", "storage"),
        Index("ix_object_digest", "digest"),
        Index("ix_object_role", "role", "storage"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    content_id: Mapped[int | None] = mapped_column(ForeignKey("content.id"))
    digest: Mapped[str] = mapped_column(exact(64))
    size: Mapped[int]
    storage: Mapped[str] = mapped_column(String(64))
    key: Mapped[str | None] = mapped_column(exact(255))
    encoding: Mapped[str] = mapped_column(String(8), server_default="raw")
    stored_size: Mapped[int | None]
    stored_digest: Mapped[str | None] = mapped_column(exact(64))
    base_digest: Mapped[str | None] = mapped_column(exact(64))
    state: Mapped[str] = mapped_column(String(16))
    slot: Mapped[int | None]
    role: Mapped[str] = mapped_column(String(8), server_default="first")
    since: Mapped[datetime]
    stored_at: Mapped[datetime | None]
    read_at: Mapped[datetime | None]
    delete_after: Mapped[datetime | None]
    next_try: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
    error: Mapped[str | None] = mapped_column(Text)

    @property
    def object_size(self) -> int:
        """The size of the stored bytes."""
        return self.size if self.stored_size is None else self.stored_size

    @property
    def object_digest(self) -> str:
        """The SHA-256 of the stored bytes."""
        return self.stored_digest or self.digest


class EncodingTrial(Base):
    """A content was encoded as the difference to this base, and that saved too little. Empty: without a base."""

    __tablename__ = "encoding_trial"
    __table_args__ = (UniqueConstraint("content_id", "base_digest"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    content_id: Mapped[int] = mapped_column(ForeignKey("content.id", ondelete="CASCADE"))
    base_digest: Mapped[str] = mapped_column(exact(64))
    tried_at: Mapped[datetime]


class ContentSketch(Base):
    """What a content shares with others: the least hashes of 64 bins, of 4 bytes each, made in this `method`."""

    __tablename__ = "content_sketch"

    content_id: Mapped[int] = mapped_column(ForeignKey("content.id", ondelete="CASCADE"), primary_key=True)
    method: Mapped[int]
    minima: Mapped[bytes] = mapped_column(LargeBinary(256))


# The size of the stored bytes, in queries.
OBJECT_SIZE = func.coalesce(StoredObject.stored_size, StoredObject.size)


def is_place(row: type[StoredObject]) -> ColumnElement[bool]:
    """Return the condition that an object is where a content is said to be: a sound one, if any is, of a first copy."""
    other = aliased(StoredObject)
    best = select(other.id).where(other.content_id == row.content_id, other.slot == 1, other.key.is_not(None))
    order = (case((other.state == _PRESENT, 0), else_=1), case((other.role == "first", 0), else_=1), other.id)
    return row.id == best.order_by(*order).limit(1).correlate(row).scalar_subquery()
