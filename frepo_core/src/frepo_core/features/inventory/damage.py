"""Lists the damaged blobs, with the versions and files that use them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, CollectionToken, File, StoredObject, Version
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.domain.structs import struct
from frepo_core.services.access.visibility.visible_files import Sight, see_files, sees_all_files
from frepo_core.services.base.keyset import Page, PageRequest, cut, paged
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.reports.damaged_objects import BAD, is_above_lost, is_wrong

# How many of the versions and files that use a blob are named.
NAMED = 20
ADVICE = (
    "Upload the same content again, to any collection or as a file: that stores the bytes anew for all that use them."
)
ADVICE_UNUSED = "Nothing uses these bytes any more: the job sweep removes them."
ADVICE_BASE = (
    "Or heal the content {base}, to which it is stored as a difference: its own bytes are not known to be damaged."
)
ADVICE_KEY = (
    "Or restore the key {key!r} of the storage {storage!r} from its backup; the job verify then finds it sound."
)


@struct
class DamagedVersion:
    """A version whose bytes are damaged; `collection_name` is the file name of its collection."""

    collection_id: str
    collection_name: str
    number: int


@struct
class DamageRecord:
    """Bytes that are wrong or missing in a storage. `found_at` (UTC) is when they were read last.

    `versions` and `files` (stored names) are the first 20 of the `used_by` that use the bytes. `advice` says what to
    do.
    """

    sha256: str
    size: int
    storage: str
    key: str
    found_at: datetime
    versions: Sequence[DamagedVersion]
    files: Sequence[str]
    used_by: int
    advice: str


def list_damage(database: Database, backends: Backends, page: PageRequest, *, by: Identity) -> Page[DamageRecord]:
    """Return a page of the damaged blobs, the latest finding first, with the versions and files that the token may see.

    A token that may not see all collections and files gets no blob of which it sees no version and no file, so the page
    may be shorter.
    """
    page = replace(page, is_descending=True)
    with database.reading(is_snapshot=True) as session:
        query = select(StoredObject).where(or_(and_(*is_wrong(backends)), and_(*is_above_lost(backends))))
        rows = session.scalars(paged(query, page, [StoredObject.since, StoredObject.id])).all()
        found = cut(rows, page, lambda row: [row.since, row.id])
        records = [_record(session, row, by) for row in found.items]
    sees_all = allows("collection.fetch", by) and sees_all_files(by)
    shown = [record for record in records if sees_all or record.versions or record.files]
    return Page(items=shown, next=found.next)


def _record(session: Session, row: StoredObject, by: Identity) -> DamageRecord:
    used_by = session.scalar(select(func.count()).select_from(File).where(File.content_id == row.content_id)) or 0
    versions, files = _users(session, row, by)
    again = ADVICE_BASE.format(base=row.base_digest)
    if row.state in BAD:
        again = ADVICE_KEY.format(key=str(row.key), storage=row.storage)
    return DamageRecord(
        sha256=row.digest,
        size=row.size,
        storage=row.storage,
        key=str(row.key),
        found_at=row.read_at or row.since,
        versions=versions,
        files=files,
        used_by=used_by,
        advice=f"{ADVICE} {again}" if used_by else ADVICE_UNUSED,
    )


def _users(session: Session, row: StoredObject, by: Identity) -> tuple[list[DamagedVersion], list[str]]:
    """Return the first versions and the first plain files that use a blob, of those that the token may see."""
    query = (
        select(File.id, File.stored_name, Version.number, Collection.id.label("collection"), Collection.filename)
        .join(Version, Version.file_id == File.id, isouter=True)
        .join(Collection, Collection.id == Version.collection_id, isouter=True)
        .where(File.content_id == row.content_id)
        .order_by(File.id)
        .limit(NAMED)
    )
    if not allows("collection.fetch", by):
        own = select(CollectionToken.collection_id).where(CollectionToken.token_key == by.token)
        query = query.where(or_(Collection.id.is_(None), Collection.id.in_(own)))
    rows = session.execute(query).all()
    sights = see_files(session, [row.id for row in rows if row.collection is None], by)
    versions = [
        DamagedVersion(collection_id=row.collection, collection_name=row.filename, number=row.number)
        for row in rows
        if row.collection is not None
    ]
    return versions, [row.stored_name for row in rows if sights.get(row.id) is Sight.FULL]
