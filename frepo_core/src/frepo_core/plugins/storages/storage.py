"""The storage contract: where blobs are stored."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Protocol

from pydantic import ConfigDict

from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BlobRetained, StorageUnavailable

from ..settings import PluginSettings

PROBE = b"frepo"


class StorageSettings(PluginSettings):
    """Base of a backend's settings; filled from `fs.<adapter>.<name>` and `FS_<ADAPTER>_<NAME>`."""

    # Packages for 0.1 may have defaults that are not of their type, such as None.
    model_config = ConfigDict(validate_default=False)


@dataclass(frozen=True, kw_only=True)
class BlobStat:
    """A blob in a backend: size in bytes, modification time in UTC (aware)."""

    key: str
    size: int
    modified: datetime


class StorageBackend(ABC):
    """A storage for blobs. A key names one immutable blob and is written once.

    A key is a relative path for which `is_key` is true. The key of a blob has 84 characters: two hex digits, `/`, a
    SHA-256 in lower-case hex, `-`, 16 hex digits. The keys of the journal and of the catalogues have the form
    `journal/<8 hex digits>-<8 hex digits>` and `catalogue/<time>-<8 hex digits>-<8 hex digits>`. One backend object
    serves many threads at once. Every method raises `StorageUnavailable` or `StorageFull` with the driver's exception
    as its cause. No other exception of the driver may leave it.
    """

    @abstractmethod
    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Store exactly `size` bytes read from `content`: all or nothing, durable when it returns.

        Call only `content.read(n)`, which may return fewer than `n` bytes. Do not catch its exceptions. After such an
        exception, or if the content has another size (raise `StorageUnavailable`), no blob exists under the key.

        A storage with local files may first try `content.link_to(path)`, if the content has that: it gives the file of
        a whole content a further name without a copy, and returns False where that is not possible (`SessionFile`).
        The storage gives the file its mode and syncs it.
        """

    @abstractmethod
    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open a blob for reading `length` bytes from `start` (None: to its end); the caller closes it.

        Another thread may read and close it.

        Raises `BlobNotFound` at once, never at the first read. A connection that breaks while reading raises. A storage
        that can tell that the bytes are not those that were stored raises `BlobDamaged`, here or while reading: the
        blob is then marked as damaged, and read and repaired from its other copy.
        """

    @abstractmethod
    def delete(self, key: str) -> None:
        """Delete a blob. Do nothing if it does not exist. Raises `BlobRetained` before the time of `retain`."""

    @abstractmethod
    def stat(self, key: str) -> BlobStat:
        """Return size and time of a blob. Raises `BlobNotFound`."""

    @abstractmethod
    def list(self) -> Iterator[BlobStat]:
        """Yield all blobs in any order, without holding all of them in memory."""

    def retain(self, key: str, until: datetime) -> bool:
        """Keep a blob from deletion until a time (UTC, aware), by whomever; return whether the storage can do that.

        Called for the blobs of locked versions, and again when a lock is extended or a later version shares the blob. A
        blob that is kept longer already stays so. Until its time, `delete` raises `BlobRetained`, and the blob can be
        read. Raises `BlobNotFound`.

        .. versionadded:: 0.1
        """
        return False

    def break_retention(self, key: str) -> Sequence[str]:
        """Try to break the retention of a blob, with all that the keys of the service allow.

        Called now and then for a probe that is retained for some minutes. Return what was done although it should have
        been refused, each as what follows "the storage": `let a retained blob be deleted`. Raise `StorageUnavailable`
        if that could not be found out. Leave nothing under the key that `delete` does not remove later.

        .. versionadded:: 0.2
        """
        try:
            self.delete(key)
        except BlobRetained:
            return ()
        return ("let a retained blob be deleted",)

    def server(self) -> str:
        """Return what the server calls itself, such as its name and version. Empty if it does not say.

        When that changes, locks are tried again.

        .. versionadded:: 0.2
        """
        return ""

    def check(self) -> None:
        """Store, read and delete a probe. Raises `StorageUnavailable` if that fails."""
        key = new_blob_key(
            hashlib.sha256(PROBE).hexdigest()
        )  # a valid key: storage:sweep deletes the probe after a crash
        self.store(key, BytesIO(PROBE), len(PROBE))
        try:
            with self.open(key) as blob:
                found = blob.read()
        finally:
            self.delete(key)
        if found != PROBE:
            raise StorageUnavailable(f"The storage returned {len(found)} bytes that differ from the stored probe")

    def tidy(self, before: datetime) -> int:
        """Delete remains of unfinished uploads from before this time (UTC, aware); return their number.

        The storage may hold foreign files. Delete only what frepo could have made: paths for which
        `is_partial_path` is true, and parts of uploads to keys for which `is_blob_key` is true.
        """
        return 0

    def close(self) -> None:
        """Release connections at the end of the process. No other method is called afterwards.

        Commands of `frepo` do not call it.

        .. versionadded:: 0.1
        """

    def url(self, key: str, *, expires: int, filename: str, content_type: str) -> str | None:
        """Return a URL from which a client can fetch the blob for `expires` seconds; None: the service streams it."""
        return None

    def path(self, key: str) -> Path | None:
        """Return the local file of the blob, for sendfile and X-Accel-Redirect; None if it has no file."""
        return None

    def free_space(self) -> int | None:
        """Return how many bytes can still be stored; None if that is unknown, or without a limit.

        .. versionadded:: 0.1
        """
        return None

    def total_space(self) -> int | None:
        """Return how many bytes `free_space` would return for an empty storage; None if that is unknown.

        A percentage in `trash.min_free` needs it, and the overview shows it.

        .. versionadded:: 0.1
        """
        return None


class Storages(Protocol):
    """The other storages that are configured, for a storage that uses one of them."""

    def get(self, name: str) -> StorageBackend:
        """Return the storage with this name, built from its own settings; each is built once.

        From then on it belongs to the storage that asked: frepo does not sweep it, and nobody adopts it on its own.
        Raises `ConfigurationError` if it is not installed, is switched off, has wrong settings, or uses the storage
        that asks.
        """


@dataclass(frozen=True, kw_only=True)
class StorageSpec:
    """A backend that `fs.adapter = <name>` selects.

    `build` receives an instance of `settings`, and, if it has a parameter `storages`, the other `Storages` by keyword.
    Import the driver there, not at the import of the plug-in.
    """

    name: str
    settings: type[StorageSettings]
    build: Callable[..., StorageBackend]
    summary: str = ""
