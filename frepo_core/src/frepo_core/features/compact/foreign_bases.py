"""Conditions about bases that another collection has: what a collection shows, and which are to be replaced."""

from datetime import datetime

from sqlalchemy import ColumnElement, Select, or_, select
from sqlalchemy.orm import aliased
from sqlalchemy.sql.elements import SQLCoreOperations

from frepo_core.db.models import Collection, Content, DeletedCollection, File, StoredObject, TrashEntry, Version
from frepo_core.services.backups.rows.collection_rows import INCARNATION
from frepo_core.services.content.objects.uses import is_base_anywhere, is_used, is_used_by_file
from frepo_core.services.content.storages.backends import Backends

from .compact_figures import is_counted


def has_foreign_base(collection_id: SQLCoreOperations[str] | str) -> ColumnElement[bool]:
    """Return the condition that an object is the difference to a content that a collection has not.

    A former content of a collection without a group, which nothing else uses, counts as its own.
    """
    base = aliased(Content)
    versions = select(Version.id).join(File, File.id == Version.file_id)
    in_versions = versions.where(File.content_id == base.id, Version.collection_id == collection_id).exists()
    entries = select(TrashEntry.id).join(Collection, INCARNATION == TrashEntry.incarnation)
    in_trash = entries.where(TrashEntry.content_id == base.id, Collection.id == collection_id).exists()
    in_group = select(Collection.id).where(Collection.id == collection_id, Collection.compact_group.is_not(None))
    foreign = (~in_versions, ~in_trash, or_(is_used(base), in_group.exists()))
    return select(base.id).where(base.digest == StoredObject.base_digest, *foreign).correlate(StoredObject).exists()


def select_unused(before: datetime) -> Select[str]:
    """Select the digests of contents that since then only others need, as their base."""
    return select(Content.digest).where(Content.unused_since < before, ~is_used(), is_base_anywhere())


def select_of_deleted(backends: Backends, before: datetime) -> Select[str]:
    """Select the digests of bases of files that only collections have which were deleted before."""
    needing, deleted = aliased(Content), DeletedCollection
    bases = select(StoredObject.base_digest).join(needing, needing.id == StoredObject.content_id)
    current = (StoredObject.base_digest.is_not(None), is_counted(backends))
    of_deleted = select(TrashEntry.content_id).join(deleted, deleted.incarnation == TrashEntry.incarnation)
    of_others = select(TrashEntry.id).outerjoin(deleted, deleted.incarnation == TrashEntry.incarnation)
    others = of_others.where(TrashEntry.content_id == Content.id, deleted.incarnation.is_(None)).correlate(Content)
    return select(Content.digest).where(
        Content.id.in_(of_deleted.where(deleted.deleted_at < before)),
        Content.digest.in_(bases.where(*current, is_used_by_file(needing))),
        ~is_used_by_file(),
        ~others.exists(),
    )
