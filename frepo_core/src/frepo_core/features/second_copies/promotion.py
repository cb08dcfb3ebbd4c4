"""Makes the second storage the first one, after the loss of the first. No object is changed by that."""

from collections.abc import Sequence

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Content, File, StoredObject, TrashEntry, Version
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError, StorageError
from frepo_core.services.base.failpoints import hit
from frepo_core.services.content.blobs.lifecycle import Blobs
from frepo_core.services.content.objects.decodable import find_decodable
from frepo_core.services.content.objects.states import CURRENT, ObjectState
from frepo_core.services.content.objects.uses import is_used
from frepo_core.services.content.objects.wishes import compare_again
from frepo_core.services.content.storages.first_storage import (
    Promotion,
    follow_promotion,
    hold_promotion,
    read_promotion,
    store_promotion,
)
from frepo_core.services.content.storages.storage_identity import NEWEST, is_there
from frepo_core.services.events.recording import NewEvent, record

NAMED = 20
PAGE = 500


class PromotionRefusedError(FrepoError):
    """The storage cannot become the first one, or not without a loss that nobody has accepted."""


@struct
class Loss:
    """What can only be read if the former first storage works again.

    :param contents: the number of contents that have no second copy that can be decoded, and `size` their bytes
    :param names: the newest versions and files that use them, for people
    :param works: whether the former storage answers and is the right one
    """

    contents: int
    size: int
    names: Sequence[str]
    works: bool


@struct
class Plan:
    """What a promotion of `storage` instead of `former` means. `contents` is the number of those in `former`."""

    storage: str
    former: str
    contents: int
    loss: Loss


class Promotions:
    """Promotes storages. It can be repeated: a process may be killed at each moment."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs
        self._backends = blobs.backends
        self._presence = blobs.presence

    def plan(self, storage: str, *, former: str | None = None) -> Plan:
        """Check what can be checked, and count what has no copy in the storage. `former`: the first one.

        Raises `PromotionRefusedError` if the storage does not work, or lacks bytes that the database says it has.
        """
        follow_promotion(self._database, self._backends)
        former = former or self._backends.current
        self._backends.check_name(storage)
        self._backends.check_name(former)
        if storage == former:
            raise PromotionRefusedError(f"{storage!r} is the first storage already")
        self._require_works(storage)
        with self._database.reading() as session:
            contents, lacking = _compare(session, storage, former)
            names = _name_users(session, sorted(lacking)) if lacking else []
        number, size = len(lacking), sum(lacking.values())
        loss = Loss(contents=number, size=size, names=names, works=self._works(former))
        return Plan(storage=storage, former=former, contents=contents, loss=loss)

    def promote(self, plan: Plan, *, by: By = None) -> Promotion | None:
        """Make the storage of the plan the first one. Return None if it is that already.

        All processes follow with their next upload, or within a minute. Collections that name the former storage follow
        the first one, too.
        """
        made = self._database.write(lambda session: self._write(session, plan, by))
        hit("promoted")
        follow_promotion(self._database, self._backends)
        compare_again(self._database)  # what lacks an object in the promoted storage gets a wish for one
        return made

    def _write(self, session: Session, plan: Plan, by: By) -> Promotion | None:
        hold_promotion(session, self._backends, is_exclusive=True)
        return _promote(session, plan, by)

    def _require_works(self, storage: str) -> None:
        try:
            self._presence.look(storage)
            self._backends.get(storage).check()
            with self._database.reading() as session:
                present = (StoredObject.storage == storage, StoredObject.state == ObjectState.PRESENT.value)
                query = select(StoredObject.key).where(*present).order_by(StoredObject.stored_at.desc()).limit(NEWEST)
                keys = [key for key in session.scalars(query) if key is not None]
            lost = [key for key in keys if not is_there(self._backends.get(storage), key)]
        except StorageError as error:
            raise PromotionRefusedError(f"The storage {storage!r} does not work: {error.message}") from error
        if lost:
            raise PromotionRefusedError(
                f"The storage {storage!r} lacks {len(lost)} of the newest {len(keys)} copies that were made in it. Run "
                "`frepo storage:verify` to find out which copies are left"
            )

    def _works(self, storage: str) -> bool:
        try:
            self._presence.look(storage)
            self._backends.get(storage).check()
        except FrepoError:
            return False
        return True


def _promote(session: Session, plan: Plan, by: By) -> Promotion | None:
    now, before = utc_now(), read_promotion(session)
    if before is not None and (before.storage, before.former) == (plan.storage, plan.former):
        return None
    made = store_promotion(session, storage=plan.storage, former=plan.former, now=now)
    # The second storage and the first one change places, also for collections that name them.
    follows = or_(Collection.storage.is_(None), Collection.storage == plan.former)
    session.execute(update(Collection).where(Collection.mirror == plan.storage, follows).values(mirror=plan.former))
    session.execute(update(Collection).where(Collection.storage == plan.former).values(storage=None))
    data = {"storage": plan.storage, "former": plan.former, "epoch": made.epoch, "lacking": plan.loss.contents}
    record(session, NewEvent(kind=EventKind.STORAGE_PROMOTED, by=by, data=data))
    return made


def _compare(session: Session, storage: str, former: str) -> tuple[int, dict[int, int]]:
    """Return how many used contents the former storage has, and the sizes of those that the other one cannot decode."""
    current = (StoredObject.slot == CURRENT, StoredObject.key.is_not(None), StoredObject.storage == former)
    query = select(Content.id, Content.digest, Content.size).join(StoredObject, StoredObject.content_id == Content.id)
    decodable, total, lacking = find_decodable(session, storage), 0, dict[int, int]()
    for content_id, digest, size in session.execute(query.where(*current, is_used())):
        total += 1
        if digest not in decodable:
            lacking[content_id] = size
    return total, lacking


def _name_users(session: Session, content_ids: Sequence[int]) -> list[str]:
    """Return what uses contents, the newest first: versions and plain files, then versions in the trash."""
    newest = content_ids[-PAGE:]
    files = (
        select(File.stored_name, Version.number, Collection.filename, Collection.id)
        .join(Version, Version.file_id == File.id, isouter=True)
        .join(Collection, Collection.id == Version.collection_id, isouter=True)
        .where(File.content_id.in_(newest))
        .order_by(File.id.desc())
        .limit(NAMED)
    )
    names = [
        f"version {number} of {filename} (collection {collection})" if collection else f"file {stored}"
        for stored, number, filename, collection in session.execute(files)
    ]
    trash = select(TrashEntry.number, TrashEntry.collection_id).where(TrashEntry.content_id.in_(newest))
    trash = trash.order_by(TrashEntry.id.desc()).limit(NAMED - len(names))
    return names + [
        f"version {number} of collection {collection}, in the trash" for number, collection in session.execute(trash)
    ]
