"""Finds out, once in each process, whether a storage has more in its journal than the database knows of."""

import logging
import time
from collections.abc import Callable, Iterable

from frepo_core.errors import DatabaseUnavailableError, FrepoError

log = logging.getLogger(__name__)

# How long a storage is not asked again that did not answer, or that has more: the job `journal` looks at it, too.
PAUSE = 60.0
# How long the writer of a part has to note it.
PATIENCE = 2.0
_sleep = time.sleep


class JournalComparison:
    """Knows which storages were compared: in the others, this process deletes no content.

    A database that was restored from a backup may have the marks of its storages, and knows nothing of what was taken
    back or made to a base since then. The parts of the journal that it lacks tell.
    """

    def __init__(
        self,
        find_unknown: Callable[[str], str | None] = lambda storage: "",
        skips: Callable[[str], bool] = lambda storage: False,
    ) -> None:
        """`find_unknown` returns the key of a part that the database does not know, `skips` whether a storage fails."""
        self._find_unknown = find_unknown
        self._skips = skips
        self._monotonic = time.monotonic
        self._compared: set[str] = set()
        self._again: dict[str, float] = {}

    def is_compared(self, storage: str) -> bool:
        """Return whether the database knows all of the journal in this storage. Asks nobody."""
        return storage in self._compared

    def find_newer(self, storage: str) -> str | None:
        """Return the key of a part of the journal in a storage that the database does not know, or None.

        The process that has just written it may be about to note it. Raises the storage's own errors.
        """
        if self.is_compared(storage) or not self._find_unknown(storage):
            return None
        _sleep(PATIENCE)
        return self._find_unknown(storage)

    def compare(self, storages: Iterable[str]) -> None:
        """Compare storages of which this process does not know it, outside of any transaction. Never raises."""
        for storage in set(storages) - self._compared:
            if self._monotonic() < self._again.get(storage, 0.0) or self._skips(storage):
                continue
            try:
                unknown = self._find_unknown(storage)
            except DatabaseUnavailableError:
                return  # without it nothing is deleted either; the next one asks again
            except FrepoError as error:
                log.info("nothing is deleted in the storage %s before it was looked at: %s", storage, error.message)
                unknown = ""
            if unknown is None:
                self._compared.add(storage)
                continue
            self._again[storage] = self._monotonic() + PAUSE
            if unknown:
                log.warning(
                    "nothing is deleted in the storage %s: its journal has %s, which this database does not know. The "
                    "database may have been restored from a backup; the job `journal` decides that within a minute",
                    *(storage, unknown),
                )
