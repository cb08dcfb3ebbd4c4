"""Says which collections are compacted together: one alone, or those of a group that are stored in the same places."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, StoredObject, TrashEntry
from frepo_core.domain.structs import struct
from frepo_core.services.backups.rows.collection_rows import INCARNATION
from frepo_core.services.base.batches import batches
from frepo_core.services.content.objects.states import CURRENT, ObjectState
from frepo_core.services.content.storages.backends import Backends

from .uses import Users

PAGE = 500


@struct
class Series:
    """Collections of which a content of one may be the base of a content of another.

    `incarnations` has their ids, in ascending order, with what the trash calls them. `mirror` is the storage with their
    second copies, None if they have none.
    """

    incarnations: tuple[tuple[str, str], ...]
    mirror: str | None

    @property
    def collections(self) -> list[str]:
        """The ids of the collections."""
        return [collection_id for collection_id, _ in self.incarnations]

    @property
    def name(self) -> str:
        """The id of the first collection, in whose turn the series is planned."""
        return self.incarnations[0][0]

    @property
    def is_group(self) -> bool:
        """Whether it has several collections."""
        return len(self.incarnations) > 1


def read_groups(session: Session, backends: Backends) -> Mapping[str, Series]:
    """Return the series of each collection that names a group."""
    return _read(session, backends, Collection.compact_group.is_not(None))


def read_series(session: Session, backends: Backends, collection_id: str) -> Series | None:
    """Return the series of a collection, None if it is gone."""
    group = select(Collection.compact_group).where(Collection.id == collection_id).scalar_subquery()
    is_of_it = (Collection.id == collection_id) | (Collection.compact_group == group)
    return _read(session, backends, is_of_it).get(collection_id)


def _read(session: Session, backends: Backends, condition: ColumnElement[bool]) -> dict[str, Series]:
    """Return the series of these collections. Those of one group are in several if they are stored elsewhere."""
    query = select(Collection.id, INCARNATION, Collection.compact_group, Collection.storage, Collection.mirror)
    found = defaultdict[tuple[str, ...], list[tuple[str, str]]](list)
    mirrors = dict[tuple[str, ...], str | None]()
    for collection_id, incarnation, group, storage, chosen in session.execute(query.where(condition)):
        mirror = backends.mirror_for(chosen)
        place = (group, storage or backends.current, mirror or "") if group else (collection_id,)
        found[place].append((collection_id, incarnation))
        mirrors[place] = mirror
    series = (Series(incarnations=tuple(sorted(ids)), mirror=mirrors[place]) for place, ids in found.items())
    return {collection_id: one for one in series for collection_id in one.collections}


def find_copied(session: Session, series: Series, content_ids: Iterable[int]) -> set[int]:
    """Return which contents may be the base of other collections' ones: with a sound second copy, if these want one."""
    ids = sorted(content_ids)
    if series.mirror is None or not series.is_group:
        return set(ids)
    there = (StoredObject.storage == series.mirror, StoredObject.slot == CURRENT)
    sound = (*there, StoredObject.state == ObjectState.PRESENT.value)
    queries = (
        select(StoredObject.content_id).where(StoredObject.content_id.in_(page), *sound) for page in batches(ids, PAGE)
    )
    return {content_id for query in queries for content_id in session.scalars(query) if content_id is not None}


def may_rely_on(session: Session, backends: Backends, users: Users, base_users: Users, base_id: int) -> bool:
    """Return whether a content may become the difference to a base, by the collections that have them.

    One has both; or all that use the content are of one series with a version that uses the base, which has the second
    copy that they want.
    """
    if users.collections & base_users.collections:
        return True
    incarnations = _read_incarnations(session, users.collections | base_users.collections)
    owners, base_owners = (
        {incarnations[name] for name in one.collections if name in incarnations} | {name for name, _, _ in one.trash}
        for one in (users, base_users)
    )
    if owners & base_owners:
        return True
    for name in sorted(base_users.collections):
        series = read_series(session, backends, name)
        if series and owners <= {incarnation for _, incarnation in series.incarnations}:
            return base_id in find_copied(session, series, [base_id])
    return False


def read_living(session: Session, series: Series, users: Iterable[Users]) -> set[str]:
    """Return the incarnations of other collections that are there, and whose trash has the same contents."""
    mine = {incarnation for _, incarnation in series.incarnations}
    ids, found = sorted({name for each in users for name, _, _ in each.trash} - mine), set[str]()
    query = select(TrashEntry.incarnation).join(Collection, Collection.id == TrashEntry.collection_id).distinct()
    for batch in batches(ids, PAGE):
        page = TrashEntry.incarnation.in_(batch)
        found.update(session.scalars(query.where(page, INCARNATION == TrashEntry.incarnation)))
    return found


def _read_incarnations(session: Session, collection_ids: Iterable[str]) -> dict[str, str]:
    query = select(Collection.id, INCARNATION).where(Collection.id.in_(sorted(collection_ids)))
    return {collection_id: incarnation for collection_id, incarnation in session.execute(query)}
