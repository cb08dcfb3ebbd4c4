"""The records of contents and files."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select

from frepo_core.db.models import Content, File, StoredObject
from frepo_core.db.models.contents import is_place
from frepo_core.domain.structs import struct

_FILE, _CONTENT, _OBJECT = File.__table__, Content.__table__, StoredObject.__table__
_SOUND = "present"
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
    _CONTENT.c.id.label("content_id"),
    _CONTENT.c.digest,
    _CONTENT.c.size,
    _CONTENT.c.mime,
    _OBJECT.c.storage,
    _OBJECT.c.key,
    _CONTENT.c.checksum,
    _OBJECT.c.state,
    _OBJECT.c.encoding,
    _OBJECT.c.stored_size,
).select_from(
    _FILE.join(_CONTENT, _CONTENT.c.id == _FILE.c.content_id).outerjoin(
        _OBJECT, (_OBJECT.c.content_id == _CONTENT.c.id) & is_place(StoredObject)
    )
)


@dataclass(kw_only=True)
class CopyCount:
    """How many sound copies of a content there are, and how many there should be.

    It is not frozen: an upload may wait for its second copy after its rows were written.
    """

    present: int
    wanted: int


@struct
class BlobRecord:
    """A content, and where it is. `size` is in bytes, `digest` is the SHA-256 and `checksum` the XXH3-128, both in hex.

    `storage` and `key` are those of a current object, empty if there is none: a sound one if there is any, else
    `is_damaged` is true. `encoding` and `stored_size` are those of this object, see `StoredObject`. `is_new` says that
    this transaction has inserted the row and is tried for the first time. `copies` is known of an upload only, and if
    its content wants a second copy.
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
    def of(cls, row: Content, place: StoredObject | None = None) -> "BlobRecord":
        """Make a record of a row; `place` is given where it was read already."""
        place = place or row.place
        return cls(
            id=row.id,
            digest=row.digest,
            size=row.size,
            mime=row.mime,
            storage=place.storage if place else "",
            key=(place.key if place else None) or "",
            checksum=row.checksum,
            is_damaged=place is None or place.state != _SOUND,
            encoding=place.encoding if place else "raw",
            stored_size=place.stored_size if place else None,
        )


@struct
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
        content_id, digest, size, mime, storage, key, checksum, state, encoding, stored_size = of_blob
        return cls(
            id=number,
            stored_name=stored_name,
            requested_name=requested_name,
            public=public,
            is_version=kind == "version",
            created_at=created_at,
            blob=BlobRecord(
                id=content_id,
                digest=digest,
                size=size,
                mime=mime,
                storage=storage or "",
                key=key or "",
                checksum=checksum,
                is_damaged=state != _SOUND,
                encoding=encoding or "raw",
                stored_size=stored_size,
            ),
            tags=tags,
            password_hash=password_hash,
        )


@struct
class TrashedFile(FileRecord):
    """What was the file of the version `number` of a collection, and is in the trash: no row has its `id` any more."""

    collection_id: str
    incarnation: str
    number: int
