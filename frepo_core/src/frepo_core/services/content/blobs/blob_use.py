"""Says which blobs are used: the one condition for all that deletes blobs."""

from sqlalchemy import ColumnElement, or_, select

from frepo_core.db.models import Blob, File, TrashEntry


def is_used() -> ColumnElement[bool]:
    """Return the condition that a file or an entry of the trash uses a blob.

    A version's file becomes an entry of the trash, and the other way round, in one transaction. So read both in one
    statement, as this condition does.
    """
    return or_(is_used_by_file(), select(TrashEntry.id).where(TrashEntry.blob_id == Blob.id).exists())


def is_used_by_file() -> ColumnElement[bool]:
    """Return the condition that a plain file or a version uses a blob."""
    return select(File.id).where(File.blob_id == Blob.id).exists()
