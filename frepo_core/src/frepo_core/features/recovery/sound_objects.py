"""Reads objects of a content until one is sound, where nobody has known them for a while."""

import logging
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.errors import FrepoError
from frepo_core.services.content.chains.chain_damage import find_object_damage
from frepo_core.services.content.chains.chain_reader import ChainReader
from frepo_core.services.content.objects.blob_damage import UnreadableError
from frepo_core.services.content.objects.marks import mark_sound
from frepo_core.services.content.objects.places import find_places
from frepo_core.services.content.objects.states import SOUND
from frepo_core.services.content.storages.backends import Backends

log = logging.getLogger(__name__)


class SoundObjects:
    """Reads objects, and notes those that are sound."""

    def __init__(self, database: Database, backends: Backends) -> None:
        self._database = database
        self._backends = backends
        self._chains = ChainReader(database, backends)

    def has(self, digest: str, storage: str) -> bool:
        """Return whether any storage has a sound object of a content. This one is looked at first."""
        with self._database.reading() as session:
            places = find_places(session, digest, storage)
        for row in places:
            try:
                problem = find_object_damage(self._chains, self._backends.get(row.storage), row)
            except (FrepoError, UnreadableError) as error:
                log.warning("%s in the storage %s cannot be read: %s", row.key, row.storage, error)
                continue
            if problem is None:
                self._database.write(partial(_note_read, self._backends, row))
                return True
        return False


def _note_read(backends: Backends, row: StoredObject, session: Session) -> bool:
    return mark_sound(session, backends, row, by=None)


def has_sound_object(session: Session, content_id: int) -> bool:
    """Return whether a locked content still has a sound object: what was read before may have been doomed since."""
    sound = (StoredObject.content_id == content_id, StoredObject.state.in_(SOUND))
    return session.scalar(select(StoredObject.id).where(*sound).limit(1)) is not None
