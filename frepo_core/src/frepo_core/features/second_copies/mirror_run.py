"""One run of the job `mirror`: copies what is due, several contents at a time, until nothing is due."""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass

from frepo_core.db import Database
from frepo_core.domain.identity import By
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import StorageError
from frepo_core.services.base.failpoints import hit
from frepo_core.services.base.rate_limit import RateLimit
from frepo_core.services.content.blobs.blob_reader import BlobReader, new_gate
from frepo_core.services.content.chains.chain_reader import ChainReader
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.storage_troubles import StorageStates
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.services.content.storages.write_guard import Presence

from .copier import Copier, CopyResult, CopyTask, Outcome
from .copy_results import record_results
from .work_queue import BATCH, claim_batch

PARALLEL = 4  # copies at the same time
FLUSH_SECONDS = 5.0
POLL_SECONDS = 0.5


@dataclass(kw_only=True)
class CopyReport:
    """What a run has copied, in contents and bytes, and how many failed; `problem` is why it ended early, or None.

    `repaired` is the number of damaged first copies that were made again, which do not count as copied.
    """

    copied: int = 0
    repaired: int = 0
    size: int = 0
    failed: int = 0
    problem: str | None = None


class _StoppedError(Exception):
    """The run ends: a thread must not copy on."""


class MirrorRun:
    """Copies to one storage at a time, at most `rate` bytes a second; 0: no limit.

    `keep_going` is called about twice a second; it ends the run by an exception.
    """

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        states: StorageStates,
        *,
        rate: int,
        keep_going: Callable[[], None],
        progress: Callable[[str], None],
        by: By = None,
    ) -> None:
        self._database = database
        self._backends = backends
        self._presence = presence
        self._states = states
        self._breaker = backends.breaker
        self._rate = rate
        self._keep_going = keep_going
        self._progress = progress
        self._by = by
        self._gate = new_gate(database, backends, presence)
        self._reader = BlobReader(database, backends, by=by)

    def copy_all(self, storage: str) -> CopyReport:
        """Copy what is due in this storage. A storage that does not work is no error: the report says so."""
        report = CopyReport()
        try:
            Ownership(self._database, self._backends).claim(storage)
            self._presence.look(storage)
        except StorageError as error:
            self._note_failure(storage, error, report)
            return report
        stop = threading.Event()
        chains = ChainReader(self._database, self._backends)
        copier = Copier(self._backends, self._presence, chains, self._make_pace(stop))
        pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="frepo mirror")
        try:
            self._copy(storage, report, copier, pool)
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
        return report

    def _copy(self, storage: str, report: CopyReport, copier: Copier, pool: ThreadPoolExecutor) -> None:
        active: dict[Future[CopyResult], CopyTask] = {}
        results: list[CopyResult] = []
        flushed = looked = time.monotonic()
        while True:
            self._keep_going()
            if self._may_claim(storage, active, looked):
                but = [task.id for task in active.values()] + [result.task.id for result in results]
                claimed = claim_batch(self._database, self._backends, storage, but)
                hit("copies_claimed")
                active.update((pool.submit(copier.copy, task), task) for task in claimed)
                looked = time.monotonic()
            if not active and not results:
                return
            for future in wait(active, POLL_SECONDS, FIRST_COMPLETED).done if active else ():
                del active[future]
                if (result := future.result()).outcome is not Outcome.SKIPPED:
                    results.append(result)
                    self._count(result, storage, report)
            if len(results) >= BATCH or not active or time.monotonic() - flushed > FLUSH_SECONDS:
                self._flush(results, report)
                flushed = time.monotonic()

    def _may_claim(self, storage: str, active: Mapping[Future[CopyResult], CopyTask], looked: float) -> bool:
        """Return whether to look for further work: if there is little left, and, next to a long copy, not too often."""
        if self._breaker.skips(storage) or len(active) >= 2 * PARALLEL:
            return False
        return len(active) < PARALLEL or time.monotonic() - looked > FLUSH_SECONDS

    def _flush(self, results: list[CopyResult], report: CopyReport) -> None:
        ended = record_results(self._database, self._backends, results, by=self._by)
        if results:
            hit("copies_recorded")
            self._gate.delete(ended, reads=False)
            self._doubt_sources(results)
            self._progress(f"{report.copied} contents copied, {readable_size(report.size)}")
        results.clear()

    def _count(self, result: CopyResult, storage: str, report: CopyReport) -> None:
        if result.outcome is Outcome.PRESENT:
            self._states.worked(storage, by=self._by, size=result.task.size)
            if result.task.is_repair:
                report.repaired += 1
                hit("first_repaired")
            else:
                report.copied, report.size = report.copied + 1, report.size + result.task.size
        elif result.outcome is not Outcome.AGAIN:
            report.failed += 1
            if result.outcome is Outcome.TARGET_FAILED and result.error is not None:
                self._note_failure(storage, result.error, report, size=result.task.size)

    def _doubt_sources(self, results: list[CopyResult]) -> None:
        """Read objects from which others could not be made, and mark them if they are wrong."""
        for result in results:
            if result.outcome is Outcome.SOURCE_FAILED and result.task.source is not None:
                with suppress(StorageError):
                    self._reader.read(result.task.source)

    def _note_failure(self, storage: str, error: StorageError, report: CopyReport, *, size: int = 0) -> None:
        self._presence.forget(storage)
        self._states.failed(storage, error, by=self._by, size=size)
        report.problem = error.message

    def _make_pace(self, stop: threading.Event) -> Callable[[int], None]:
        """Return the function that limits the rate of all threads together, and ends them with the run."""
        lock = threading.Lock()

        def check() -> None:
            if stop.is_set():
                raise _StoppedError

        limit = RateLimit(self._rate, keep_going=check)

        def pace(size: int) -> None:
            check()
            with lock:
                limit(size)

        return pace
