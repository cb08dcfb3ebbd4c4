"""The records of blobs and files."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select

from frepo_core.db.models import Blob, File

from ..copy_count import CopyCount

_FILE, _BLOB = File.__table__, Blob.__table__
# For downloads and listings. A query on tables costs half as much as one on models through a session. Only columns
# that records need are selected: converting one time costs as much as three texts.
WITH_BLOB = select(
    _FILE.c.id,
    _FILE.c.stored_name,
    _FILE.c.requested_name,
    _FILE.c.public,
    _FILE.c.kind,
    _FILE.c.created_at,
    _FILE.c.password_hash,
    _BLOB.c.id.label("blob_id"),
    _BLOB.c.digest,
    _BLOB.c.size,
    _BLOB.c.mime,
    _BLOB.c.storage,
    _BLOB.c.key,
    _BLOB.c.checksum,
    _BLOB.c.damaged_at.is_not(None).label("is_damaged"),
    _BLOB.c.encoding,
    _BLOB.c.stored_size,
).join(_BLOB, _BLOB.c.id == _FILE.c.blob_id)


@dataclass(frozen=True, kw_only=True)
class BlobRecord:
    """Bytes in a backend. `size` is in bytes, `digest` is the SHA-256 and `checksum` the XXH3-128, both in hex.

    `is_damaged` says that the bytes were found to be wrong or missing and were not stored again since. `is_new` says
    that this transaction has inserted the row and is tried for the first time. `copies` is known of an upload only, and
    if its content wants a second copy. `encoding` and `stored_size` are those of the stored object, see `Blob`.
    """

    id: int
    digest: str
    size: int
    mime: str
    storage: str
    key: str
    checksum: str | None = None
    is_damaged: bool = False
    encoding: str = "raw"
    stored_size: int | None = None
    is_new: bool = False
    copies: CopyCount | None = field(default=None, compare=False)

    @property
    def object_size(self) -> int:
        """The size of the stored object in bytes."""
        return self.size if self.stored_size is None else self.stored_size

    @classmethod
    def of(cls, row: Blob) -> "BlobRecord":
        """Make a record of a row."""
        return cls(
            id=row.id,
            digest=row.digest,
            size=row.size,
            mime=row.mime,
            storage=row.storage,
            key=row.key,
            checksum=row.checksum,
            is_damaged=row.damaged_at is not None,
            encoding=row.encoding,
            stored_size=row.stored_size,
        )


@dataclass(frozen=True, kw_only=True)
class FileRecord:
    """A file under its stored name. Times are UTC (aware)."""

    id: int
    stored_name: str
    requested_name: str
    public: bool
    is_version: bool
    created_at: datetime
    blob: BlobRecord
    tags: tuple[str, ...] = ()
    password_hash: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, row: File, blob: BlobRecord | None = None) -> "FileRecord":
        """Make a record of a row; `blob` is given where it was read already. The file of a version has no tags."""
        return cls(
            id=row.id,
            stored_name=row.stored_name,
            requested_name=row.requested_name,
            public=row.public,
            is_version=row.kind == "version",
            created_at=row.created_at,
            blob=blob or BlobRecord.of(row.blob),
            tags=() if row.kind == "version" else tuple(tag.name for tag in row.tags),
            password_hash=row.password_hash,
        )

    @classmethod
    def of_row(cls, row: Sequence[Any], tags: tuple[str, ...] = ()) -> "FileRecord":
        """Make a record of a row of `WITH_BLOB`."""
        # Unpacking the whole row is much faster than reading each column by its name.
        number, stored_name, requested_name, public, kind, created_at, password_hash, *of_blob = row
        blob, digest, size, mime, storage, key, checksum, is_damaged, encoding, stored_size = of_blob
        return cls(
            id=number,
            stored_name=stored_name,
            requested_name=requested_name,
            public=public,
            is_version=kind == "version",
            created_at=created_at,
            blob=BlobRecord(
                id=blob,
                digest=digest,
                size=size,
                mime=mime,
                storage=storage,
                key=key,
                checksum=checksum,
                is_damaged=is_damaged,
                encoding=encoding,
                stored_size=stored_size,
            ),
            tags=tags,
            password_hash=password_hash,
        )


@dataclass(frozen=True, kw_only=True)
class TrashedFile(FileRecord):
    """What was the file of the version `number` of a collection, and is in the trash: no row has its `id` any more."""

    collection_id: str
    incarnation: str
    number: int
