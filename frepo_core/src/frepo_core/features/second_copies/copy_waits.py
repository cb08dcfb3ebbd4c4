"""Lets an upload wait for its second copy: its process makes it at once, without waiting for the job `mirror`."""

import logging
from datetime import timedelta
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import StoredObject
from frepo_core.errors import FrepoError, StorageError
from frepo_core.services.base.plugin_deadlines import PluginHangs, PluginThreads
from frepo_core.services.content.chains.chain_reader import ChainReader
from frepo_core.services.content.objects.gate import Gate
from frepo_core.services.content.objects.states import CURRENT, ObjectState
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.write_guard import Presence

from .copier import Copier, CopyTask, Outcome
from .copy_claims import claim
from .copy_results import record_results

log = logging.getLogger(__name__)

# The job leaves a copy alone for so long after an upload has begun to make it.
CLAIM = timedelta(minutes=10)


class CopyWaits:
    """Makes copies of new uploads, each in a thread. At most a few may take longer than their uploads wait."""

    def __init__(self, database: Database, backends: Backends, presence: Presence, gate: Gate, wait: timedelta) -> None:
        self._database = database
        self._backends = backends
        self._presence = presence
        self._gate = gate
        self._wait = wait
        self._threads = PluginThreads("frepo copying", wait.total_seconds())

    def make_copy(self, content_id: int, storage: str) -> bool:
        """Return whether the copy is present before `mirror.wait` is over. Never raises: the upload is accepted."""
        if not self._wait or self._backends.breaker.skips(storage):
            return False
        try:
            return self._threads.call(partial(self._copy, content_id, storage))
        except PluginHangs:
            return False
        except FrepoError as error:
            log.warning("the second copy of blob %s is left to the job mirror: %s", content_id, error.message)
        except Exception:
            log.exception("the second copy of blob %s is left to the job mirror", content_id)
        return False

    def _copy(self, content_id: int, storage: str) -> bool:
        try:
            self._presence.require(storage)
        except StorageError:
            self._backends.breaker.failed(storage)
            raise
        task = self._database.write(lambda session: self._claim(session, content_id, storage))
        if task is None:
            return False
        chains = ChainReader(self._database, self._backends)
        result = Copier(self._backends, self._presence, chains, lambda size: None).copy(task)
        ended = record_results(self._database, self._backends, [result])
        self._gate.delete(ended, reads=False)
        return result.outcome is Outcome.PRESENT and not ended

    def _claim(self, session: Session, content_id: int, storage: str) -> CopyTask | None:
        """Give the wanted copy its key, unless the job has begun to make it."""
        query = select(StoredObject).where(
            StoredObject.content_id == content_id,
            StoredObject.storage == storage,
            StoredObject.slot == CURRENT,
            StoredObject.state == ObjectState.WANTED.value,
            StoredObject.key.is_(None),
        )
        row = session.scalar(query.with_for_update())
        return None if row is None else claim(session, self._backends, row, read_clock(session) + CLAIM)
