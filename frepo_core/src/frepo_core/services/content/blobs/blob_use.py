"""Says which blobs are used: the one condition for all that deletes blobs."""

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import aliased

from frepo_core.db.models import Blob, File, TrashEntry


def is_used() -> ColumnElement[bool]:
    """Return the condition that a file or an entry of the trash uses a blob, or that it is the base of another one.

    A version's file becomes an entry of the trash, and the other way round, in one transaction. So read both in one
    statement, as this condition does.
    """
    in_trash = select(TrashEntry.id).where(TrashEntry.blob_id == Blob.id).exists()
    return or_(is_used_by_file(), in_trash, is_base())


def is_used_by_file(blob: type[Blob] = Blob) -> ColumnElement[bool]:
    """Return the condition that a plain file or a version uses a blob."""
    return select(File.id).where(File.blob_id == blob.id).exists()


def is_base() -> ColumnElement[bool]:
    """Return the condition that another blob is stored as the difference to a blob."""
    dependent = aliased(Blob)
    return select(dependent.id).where(dependent.base_id == Blob.id).correlate(Blob).exists()
