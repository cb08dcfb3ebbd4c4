"""Makes one second copy: store the bytes of the first one, read them back, compare the digest."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import BinaryIO, Self, cast

from frepo_core.errors import BlobNotFound, FrepoError, StorageError
from frepo_core.plugins import Checksums, StorageBackend

from ..blobs.blob_damage import UnreadableError, find_damage, is_there
from ..blobs.failpoints import hit
from ..chains.chain_places import RAW
from ..storages.backends import Backends
from ..storages.write_guard import Presence

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class CopyTask:
    """A copy to make: the id of its row, its blob, the target with a key that only this row has, and the source.

    `digest`, `size` (bytes) and `encoding` are those of the object in the source, which is copied as it is.
    `base_digest` is the content that a delta needs.
    `may_exist` says that bytes may be stored under the key already: by a process that was killed, or for a blob of the
    same content that was deleted. `as_before` is the same task for the object that the copy was before, if that is
    another one: a first copy that a promotion made a second one may be encoded in another way than its source.
    """

    id: int
    blob_id: int
    digest: str
    size: int
    storage: str
    key: str
    from_storage: str
    from_key: str
    encoding: str = RAW
    base_digest: str | None = None
    may_exist: bool = False
    as_before: "CopyTask | None" = None


class Outcome(Enum):
    """How a task ended. After `AGAIN` no bytes exist under its key: it is tried again at once, with another one.

    `SKIPPED`: nothing was done, because the storage does not work.
    """

    PRESENT = auto()
    AGAIN = auto()
    SKIPPED = auto()
    SOURCE_FAILED = auto()
    TARGET_FAILED = auto()


@dataclass(frozen=True, kw_only=True)
class CopyResult:
    """A task with its outcome and, if it failed, the reason."""

    task: CopyTask
    outcome: Outcome
    problem: str | None = None
    error: StorageError | None = None


class Copier:
    """Makes copies. Each process may make several at a time."""

    def __init__(self, backends: Backends, presence: Presence, pace: Callable[[int], None]) -> None:
        """`pace` is called with the size of each piece that was read from a source; it may wait or raise."""
        self._backends = backends
        self._presence = presence
        self._pace = pace

    def copy(self, task: CopyTask) -> CopyResult:
        """Make one copy. Errors of the storages are in the result; what `pace` raises is raised."""
        breaker = self._backends.breaker
        if breaker.skips(task.storage):
            return CopyResult(task=task, outcome=Outcome.SKIPPED)
        result = self._copy(task)
        if result.outcome is Outcome.PRESENT:
            breaker.worked(task.storage)
        elif result.outcome is Outcome.TARGET_FAILED and result.error is not None:
            breaker.failed(task.storage)
        return result

    def _copy(self, task: CopyTask) -> CopyResult:
        source: _Source | None = None
        in_source = False
        try:
            target = self._backends.get(task.storage)
            if task.may_exist:
                return self._check_earlier(task, target)
            in_source = True
            with _Source(self._backends.get(task.from_storage), task.from_key, self._pace) as source:
                in_source = False
                target.store(task.key, cast(BinaryIO, source), task.size)
            hit("copy_stored")
            return self._check(task, target, source)
        except (FrepoError, OSError, UnreadableError) as error:
            in_source = in_source or (source is not None and source.has_failed)
            return CopyResult(
                task=task,
                outcome=Outcome.SOURCE_FAILED if in_source else Outcome.TARGET_FAILED,
                problem=getattr(error, "message", None) or f"{type(error).__name__}: {error}",
                error=error if isinstance(error, StorageError) else None,
            )

    def discard(self, task: CopyTask) -> None:
        """Delete the bytes of a copy whose row was changed meanwhile. Never raises: a sweep deletes the rest."""
        try:
            self._backends.get(task.storage).delete(task.key)
        except Exception:
            log.exception("the copy %s in %s was not deleted, storage:sweep will delete it", task.key, task.storage)

    def _check_earlier(self, task: CopyTask, target: StorageBackend) -> CopyResult:
        """Keep what is under the key if it is sound. Otherwise delete it, but only if the source is."""
        for one in (task, task.as_before):
            if one and find_damage(target, one.key, digest=one.digest, size=one.size, pace=self._pace) is None:
                return CopyResult(task=one, outcome=Outcome.PRESENT)
        if is_there(target, task.key):
            source = self._backends.get(task.from_storage)
            try:
                problem = find_damage(source, task.from_key, digest=task.digest, size=task.size, pace=self._pace)
            except (FrepoError, UnreadableError) as error:
                problem = str(error)
            if problem:
                return CopyResult(task=task, outcome=Outcome.SOURCE_FAILED, problem=problem)
            target.delete(task.key)
        return CopyResult(task=task, outcome=Outcome.AGAIN)

    def _check(self, task: CopyTask, target: StorageBackend, source: "_Source") -> CopyResult:
        """Read the copy back. Raises `StorageUnavailable` if the storage is not the one it was."""
        self._presence.require(task.storage)
        problem = find_damage(target, task.key, digest=task.digest, size=task.size)
        hit("copy_read_back")
        if problem is None:
            return CopyResult(task=task, outcome=Outcome.PRESENT)
        if source.digest != task.digest:
            return CopyResult(task=task, outcome=Outcome.SOURCE_FAILED, problem="the first copy has other bytes")
        return CopyResult(task=task, outcome=Outcome.TARGET_FAILED, problem=f"read back: {problem}")


class _Source:
    """The bytes of the first copy, hashed while the second storage reads them."""

    def __init__(self, backend: StorageBackend, key: str, pace: Callable[[int], None]) -> None:
        self._stream = backend.open(key)
        self._sums = Checksums()
        self._pace = pace
        self.has_failed = False

    @property
    def digest(self) -> str:
        """The digest of what was read."""
        return self._sums.digest

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes."""
        try:
            data = self._stream.read(size)
        except Exception:
            self.has_failed = True
            raise
        self._sums.update(data)
        self._pace(len(data))
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(BlobNotFound, StorageError, OSError):
            self._stream.close()
