"""The second copies of a service, as its job and `frepo` work on them."""

from collections.abc import Callable
from dataclasses import asdict

from frepo_core.db import Database
from frepo_core.domain.identity import By
from frepo_core.domain.structs import struct
from frepo_core.services.base.rate_limit import RateLimit
from frepo_core.services.content.blobs.blob_reader import new_gate
from frepo_core.services.content.chains.chain_reader import ChainReader
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.storage_troubles import StorageStates
from frepo_core.services.content.storages.write_guard import Presence
from frepo_core.settings import Settings

from .copier import Copier
from .departures import Departures, confirm_departures, part_with_copies
from .gaps import Compared, Gaps
from .lacks import Lack, find_missing, make_due, read_lack
from .lag import find_work
from .mirror_run import CopyReport, MirrorRun
from .renewal import Renewal


@struct
class MirrorReport:
    """What a run has done in one storage.

    :param copied: the number of copies that were made, and `size` their bytes
    :param repaired: the number of damaged first copies that were made again
    :param failed: the number of copies that failed
    :param leaving: the number of copies whose contents were deleted since the last run
    :param deleted: the number of copies that were deleted
    :param problem: why the run ended early, or None
    """

    copied: int
    repaired: int
    size: int
    failed: int
    leaving: int
    deleted: int
    problem: str | None


class Mirror:
    """Brings second copies up to date. One run at a time."""

    def __init__(
        self, database: Database, backends: Backends, presence: Presence, states: StorageStates, settings: Settings
    ) -> None:
        self._database = database
        self._backends = backends
        self._presence = presence
        self._states = states
        self._settings = settings

    def compare(self, *, keep_going: Callable[[], None]) -> Compared:
        """Compare what was changed with its copies, and once a day all: see `Gaps`."""
        return self._gaps(keep_going).compare()

    def storages(self) -> list[str]:
        """Return the configured storages in which objects are made, repaired or deleted, by name."""
        return find_work(self._database, self._backends)

    def run(
        self,
        storage: str,
        *,
        keep_going: Callable[[], None],
        progress: Callable[[str], None],
        by: By = None,
    ) -> MirrorReport:
        """Copy what lacks a copy, and delete the copies whose time is over.

        A storage that does not work ends the run early, which the report says. Raises `SweepStoppedError` at the end if
        more than 20 % of the copies would be deleted within a day.
        """
        copied = self._copy(storage, keep_going, progress, by)
        left = Departures(leaving=0, deleted=0)
        if copied.problem is None:
            pace = RateLimit(self._settings.mirror_rate, keep_going=keep_going)
            chains = ChainReader(self._database, self._backends)
            copier = Copier(self._backends, self._presence, chains, pace)
            Renewal(self._database, self._backends, copier).run(storage, keep_going=keep_going)
            gate = new_gate(self._database, self._backends, self._presence)
            left = part_with_copies(self._database, gate, storage, keep_going=keep_going)
        return MirrorReport(**asdict(copied), **asdict(left))

    def resilver(
        self,
        storage: str,
        *,
        rate: int | None = None,
        keep_going: Callable[[], None],
        progress: Callable[[str], None] = lambda _: None,
        by: By = None,
    ) -> CopyReport:
        """Copy everything to this storage that it lacks, the newest first, also what has to wait after a failure.

        `rate` is the limit in bytes a second, None for that of the settings. It can be stopped and run again.
        """
        self._gaps(keep_going).fill(storage)
        make_due(self._database, storage)
        return self._copy(storage, keep_going, progress, by, rate=rate)

    def find_missing(self, storage: str, *, keep_going: Callable[[], None]) -> int:
        """Look for each copy in this storage that was made. Return how many are missing: they are made again."""
        return find_missing(self._database, self._backends, storage, keep_going=keep_going)

    def lack(self, storage: str) -> Lack:
        """Return how much this storage lacks, of what is known."""
        return read_lack(self._database, storage)

    def require_works(self, storage: str) -> None:
        """Raise `StorageUnavailable` if the storage does not work, or is not the one it was."""
        self._presence.look(storage)
        self._backends.get(storage).check()
        self._backends.breaker.worked(storage)

    def confirm(self, storage: str, most: int) -> None:
        """Let the next run delete up to `most` copies in this storage, whatever their share is."""
        confirm_departures(self._database, storage, most)

    def _gaps(self, keep_going: Callable[[], None]) -> Gaps:
        delay = self._settings.mirror_delete_delay
        return Gaps(self._database, self._backends, delay=delay, keep_going=keep_going)

    def _copy(
        self,
        storage: str,
        keep_going: Callable[[], None],
        progress: Callable[[str], None],
        by: By,
        *,
        rate: int | None = None,
    ) -> CopyReport:
        run = MirrorRun(
            self._database,
            self._backends,
            self._presence,
            self._states,
            rate=self._settings.mirror_rate if rate is None else rate,
            keep_going=keep_going,
            progress=progress,
            by=by,
        )
        return run.copy_all(storage)
