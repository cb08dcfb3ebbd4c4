"""The table of second copies: which blob has one in which storage, and those that are still to be made."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from ..types import RowId, exact
from .base import Base


class BlobCopy(Base):
    """A copy of a blob in a second storage, or the wish for one. The job `mirror` works on these rows.

    `state` is that of `CopyState` in `services/content/copies`. `blob_id` becomes null when the blob is deleted: the
    copy then stays until `delete_after`. `digest` and `size` repeat the blob's. `key` is null until the job begins to
    store the bytes, and when they are deleted. `wanted_at` is since when a sound copy is missing. `next_try` is when
    the job works on the row next; of a copy that is gone, when its row is deleted. `attempts` is the number of failed
    ones since the last success, `error` the reason of the last. `encoding`, `stored_size` and `stored_digest` are those
    of the copy, as for a blob; if the blob is stored in another way since, `delete_after` of a present copy is when it
    is made again. `base_digest` is the SHA-256 of the content that a delta needs in the same storage.
    """

    __tablename__ = "blob_copy"
    __table_args__ = (
        UniqueConstraint("blob_id", "storage"),
        Index("ix_blob_copy_work", "storage", "state", "next_try"),
        Index("ix_blob_copy_age", "storage", "state", "wanted_at", "size"),
        Index("ix_blob_copy_end", "storage", "state", "delete_after"),
        Index("ix_blob_copy_check", "storage", "state", "verified_at"),
        Index("ix_blob_copy_left", "blob_id", "state"),
        Index("ix_blob_copy_digest", "digest", "storage"),
        Index("ix_blob_copy_base", "base_digest", "storage"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    blob_id: Mapped[int | None] = mapped_column(ForeignKey("blob.id", ondelete="SET NULL"))
    digest: Mapped[str] = mapped_column(exact(64))
    size: Mapped[int]
    storage: Mapped[str] = mapped_column(String(64))
    key: Mapped[str | None] = mapped_column(exact(255), unique=True)
    state: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int] = mapped_column(server_default="0")
    next_try: Mapped[datetime]
    error: Mapped[str | None] = mapped_column(Text)
    wanted_at: Mapped[datetime]
    stored_at: Mapped[datetime | None]
    verified_at: Mapped[datetime | None]
    delete_after: Mapped[datetime | None]
    encoding: Mapped[str] = mapped_column(String(8), server_default="raw")
    stored_size: Mapped[int | None]
    stored_digest: Mapped[str | None] = mapped_column(exact(64))
    base_digest: Mapped[str | None] = mapped_column(exact(64))

    @property
    def object_size(self) -> int:
        """The size of the stored object in bytes."""
        return self.size if self.stored_size is None else self.stored_size

    @property
    def object_digest(self) -> str:
        """The SHA-256 of the stored object."""
        return self.stored_digest or self.digest
