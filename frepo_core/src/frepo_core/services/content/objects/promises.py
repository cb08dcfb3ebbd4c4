"""Which storages promise a content: where the files that use it are stored, and where they want second copies."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, Content, DeletedCollection, File, StoredObject, TrashEntry, Version

from ..storages.backends import Backends
from .states import CURRENT, DELTA, SOUND


@dataclass(kw_only=True)
class Promise:
    """The storages that promise a content: as the first one of a file (`homes`), or for its second copy (`copies`).

    `keeps_others`: copies in other storages stay, because something uses the content that has the mirror of the
    service. `as_base` are storages in which another content is stored as the difference to this one.
    """

    homes: set[str] = field(default_factory=set)
    copies: set[str] = field(default_factory=set)
    as_base: set[str] = field(default_factory=set)
    keeps_others: bool = False

    @property
    def storages(self) -> set[str]:
        """All storages that promise the content itself."""
        return self.homes | self.copies

    def lacking(self, has: set[str]) -> set[str]:
        """Return the storages that shall get an object, if these have one or are about to.

        A content stays in the storage that was the first one before, if it has enough objects: an operator migrates it.
        """
        lacking = (self.copies | self.as_base) - has
        return lacking | (self.homes - has) if len(has) < len(self.storages) else lacking


def find_promises(session: Session, backends: Backends, content_ids: Sequence[int]) -> dict[int, Promise]:
    """Return the promises of contents, by those who use them: plain files, versions, and what is in the trash.

    One that nothing uses has an empty one.
    """
    promises: dict[int, Promise] = {content_id: Promise() for content_id in content_ids}
    for content_id, home, mirror in _choices(session, content_ids):
        promise = promises[content_id]
        promise.homes.add(home or backends.current)
        promise.keeps_others = promise.keeps_others or mirror is None
        if (storage := backends.mirror_for(mirror)) is not None:
            promise.copies.add(storage)
    for content_id, storages in _find_dependents(session, content_ids).items():
        promises[content_id].as_base |= storages
        promises[content_id].keeps_others = True
    return promises


def _choices(session: Session, content_ids: Sequence[int]) -> Iterator[tuple[int, str | None, str | None]]:
    """Yield storage and mirror of each collection that uses a content, None for a plain file and for the service's."""
    of_files = select(File.content_id, Collection.storage, Collection.mirror)
    of_files = of_files.outerjoin(Version, Version.file_id == File.id)
    of_files = of_files.outerjoin(Collection, Collection.id == Version.collection_id)
    for row in session.execute(of_files.where(File.content_id.in_(content_ids)).distinct()):
        yield row[0], row[1], row[2]
    incarnation = func.coalesce(Collection.incarnation, Collection.id)
    is_of = and_(Collection.id == TrashEntry.collection_id, incarnation == TrashEntry.incarnation)
    columns = (TrashEntry.content_id, Collection.id, Collection.storage, Collection.mirror, DeletedCollection.settings)
    trash = select(*columns).outerjoin(Collection, is_of)
    trash = trash.outerjoin(DeletedCollection, DeletedCollection.incarnation == TrashEntry.incarnation)
    for content_id, is_there, home, mirror, settings in session.execute(
        trash.where(TrashEntry.content_id.in_(content_ids))
    ):
        if is_there or not settings:
            yield content_id, home, mirror
        else:
            yield content_id, settings.get("storage"), settings.get("mirror")


def _find_dependents(session: Session, content_ids: Sequence[int]) -> dict[int, set[str]]:
    """Return the storages in which current objects are differences to contents."""
    found = defaultdict[int, set[str]](set)
    query = select(Content.id, StoredObject.storage).join(StoredObject, StoredObject.base_digest == Content.digest)
    query = query.where(StoredObject.encoding == DELTA, StoredObject.slot == CURRENT, StoredObject.state.in_(SOUND))
    for content_id, storage in session.execute(query.where(Content.id.in_(content_ids)).distinct()):
        found[content_id].add(storage)
    return found
