"""Makes one object from another: store its bytes, or its content, read them back, compare the digest."""

import logging
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from typing import BinaryIO, Self, cast

from frepo_core.db.models import StoredObject
from frepo_core.domain.structs import struct
from frepo_core.errors import BlobNotFound, FrepoError, StorageError
from frepo_core.plugins import Checksums, StorageBackend
from frepo_core.services.base.failpoints import hit
from frepo_core.services.content.chains.chain_reader import ChainReader
from frepo_core.services.content.objects.blob_damage import UnreadableError, find_damage
from frepo_core.services.content.objects.states import RAW
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.write_guard import Presence

log = logging.getLogger(__name__)


@struct
class CopyTask:
    """An object to make: the id of its row, its content, and the storage with a key that only this row has.

    `digest`, `size` (bytes) and `encoding` are those of the bytes to store. `source` is the object that has them, or,
    with `is_decoded`, the content: its base is not in the storage. `is_repair`: a first copy was damaged or is missing.
    Without a source, bytes may be stored under the key already, by a process that was killed, or were found damaged or
    missing: they are read.
    """

    id: int
    content_id: int
    digest: str
    size: int
    storage: str
    key: str
    source: StoredObject | None
    encoding: str = RAW
    base_digest: str | None = None
    is_decoded: bool = False
    is_repair: bool = False


class Outcome(Enum):
    """How a task ended. After `AGAIN` no sound bytes are under its key: it is tried again at once, with another one.

    `SKIPPED`: nothing was done, because the storage does not work.
    """

    PRESENT = auto()
    AGAIN = auto()
    SKIPPED = auto()
    SOURCE_FAILED = auto()
    TARGET_FAILED = auto()


@struct
class CopyResult:
    """A task with its outcome and, if it failed, the reason."""

    task: CopyTask
    outcome: Outcome
    problem: str | None = None
    error: StorageError | None = None


class Copier:
    """Makes copies. Each process may make several at a time."""

    def __init__(
        self, backends: Backends, presence: Presence, chains: ChainReader, pace: Callable[[int], None]
    ) -> None:
        """`pace` is called with the size of each piece that was read from a source; it may wait or raise."""
        self._backends = backends
        self._presence = presence
        self._chains = chains
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
            if task.source is None:
                return self._check_earlier(task, target)
            in_source = True
            with _Source(self._open(task, task.source), self._pace) as source:
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

    def _open(self, task: CopyTask, source: StoredObject) -> BinaryIO:
        if task.is_decoded:
            return self._chains.open(source, is_verified=True)
        return self._backends.get(source.storage).open(str(source.key))

    def _check_earlier(self, task: CopyTask, target: StorageBackend) -> CopyResult:
        if find_damage(target, task.key, digest=task.digest, size=task.size, pace=self._pace) is None:
            return CopyResult(task=task, outcome=Outcome.PRESENT)
        return CopyResult(task=task, outcome=Outcome.AGAIN)

    def _check(self, task: CopyTask, target: StorageBackend, source: "_Source") -> CopyResult:
        """Read the copy back. Raises `StorageUnavailable` if the storage is not the one it was."""
        self._presence.require(task.storage)
        problem = find_damage(target, task.key, digest=task.digest, size=task.size)
        hit("copy_read_back")
        if problem is None:
            return CopyResult(task=task, outcome=Outcome.PRESENT)
        if source.digest != task.digest:
            return CopyResult(task=task, outcome=Outcome.SOURCE_FAILED, problem="the other copy has other bytes")
        return CopyResult(task=task, outcome=Outcome.TARGET_FAILED, problem=f"read back: {problem}")


class _Source:
    """The bytes of another object, hashed while the storage reads them."""

    def __init__(self, stream: BinaryIO, pace: Callable[[int], None]) -> None:
        self._stream = stream
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
