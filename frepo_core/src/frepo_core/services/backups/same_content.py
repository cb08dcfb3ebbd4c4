"""Which other collections got the content of a version: a job may send the wrong file, or a fleet the same one."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select

from frepo_core.db import Database
from frepo_core.db.models import Collection, File, Version
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.domain.structs import struct

from ..base.records import VersionRecord
from .rows.collection_search import lists_one_of

# Smaller contents are often equal by chance, such as the dumps of empty databases. In bytes.
LEAST_SIZE = 64 * 1024
WITHIN = timedelta(days=1)
MOST = 20


@struct
class SameContent:
    """The newest version of another collection that has the same content: its number, and when it was added (UTC)."""

    collection: str
    name: str
    number: int
    at: datetime


class SameContents:
    """Finds equal contents of different collections.

    That is for readers only. Whoever uploads must not learn by it what is in a collection that they cannot read.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, version: VersionRecord, *, by: Identity | None = None) -> Sequence[SameContent]:
        """Return the other collections with the content of a version, added at most a day before or after it.

        They are ordered by name, at most `MOST`, and only those whose versions the token may list, as it may list those
        of this collection; `by` is None for `frepo`. Nothing is found for contents of `LEAST_SIZE` bytes or less.
        """
        if version.file.blob.size <= LEAST_SIZE:
            return []
        query = (
            select(Collection.id, Collection.filename, func.max(Version.number), func.max(Version.created_at))
            .join(Version, Version.collection_id == Collection.id)
            .join(File, File.id == Version.file_id)
            .where(File.content_id == version.file.blob.id, Collection.id != version.collection_id)
            .where(Version.created_at.between(version.created_at - WITHIN, version.created_at + WITHIN))
            .group_by(Collection.id, Collection.filename)
            .order_by(Collection.filename, Collection.id)
        )
        if by and not allows("version.list", by):
            query = query.where(lists_one_of([by.token]))
        with self._database.reading() as session:
            rows = session.execute(query.limit(MOST)).all()
        return [SameContent(collection=id_, name=name, number=number, at=at) for id_, name, number, at in rows]
