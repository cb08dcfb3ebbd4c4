"""Says which contents cannot be read, also those whose own bytes are sound: what they are a difference to is lost."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from ...base.records import BlobRecord, FileRecord
from .states import DELTA
from .uses import select_lost


def mark_lost(session: Session, blobs: Iterable[BlobRecord]) -> list[BlobRecord]:
    """Return the records with `is_damaged` for each that is lost. No statement if none of them is a difference."""
    records = list(blobs)
    if DELTA not in [blob.encoding for blob in records]:
        return records
    lost = set(session.scalars(select_lost()))
    return [replace(blob, is_damaged=True) if blob.digest in lost else blob for blob in records]


def mark_lost_files(session: Session, files: Sequence[FileRecord]) -> list[FileRecord]:
    """Return the files with `is_damaged` for each whose content is lost, see `mark_lost`."""
    if DELTA not in [file.blob.encoding for file in files]:
        return list(files)
    marked = zip(files, mark_lost(session, [file.blob for file in files]), strict=True)
    return [file if blob is file.blob else replace(file, blob=blob) for file, blob in marked]
