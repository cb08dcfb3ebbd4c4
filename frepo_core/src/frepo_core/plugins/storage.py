"""The storage contract: where blobs live."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from frepo_core.domain.naming import fresh_key
from frepo_core.errors import StorageUnavailable

from .settings import PluginSettings

PROBE = b"frepo"


class StorageSettings(PluginSettings):
    """Base of a backend's settings; filled from `fs.<adapter>.<name>` and `FS_<ADAPTER>_<NAME>`."""


@dataclass(frozen=True, kw_only=True)
class BlobStat:
    """What a backend knows of one blob: size in bytes, modification time in UTC (aware)."""

    key: str
    size: int
    modified: datetime


class StorageBackend(ABC):
    """Where blobs live. A key names one immutable blob and is written once.

    A key is a relative path, as `is_key` says. Those of blobs have 84 characters: two hex digits, `/`, a SHA-256 in
    lower-case hex, `-`, 16 hex digits.
    One backend object serves many threads at once. Every method raises `StorageUnavailable` or
    `StorageFull` with the driver's exception as its cause, and lets no other exception of the driver out.
    """

    @abstractmethod
    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Store exactly `size` bytes read from `content`: all or nothing, durable when it returns.

        Nothing but `content.read(n)` is called, which may give fewer bytes than asked for. What it raises comes
        out as it is. That, or a content of another size, which is refused, leaves no blob under the key.
        """

    @abstractmethod
    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open a blob for reading `length` bytes from `start` (None: to its end); the caller closes it.

        Another thread than this one may read and close it.

        Raises `BlobNotFound` at once, never at the first read. A connection that breaks while reading raises.
        """

    @abstractmethod
    def delete(self, key: str) -> None:
        """Delete a blob; an absent one is fine."""

    @abstractmethod
    def stat(self, key: str) -> BlobStat:
        """Tell size and time of a blob. Raises `BlobNotFound`."""

    @abstractmethod
    def list(self) -> Iterator[BlobStat]:
        """Go through every blob, in any order, without holding all of them in memory."""

    def check(self) -> None:
        """Store, read back and delete a probe. Raises `StorageUnavailable` when that does not work."""
        key = fresh_key(hashlib.sha256(PROBE).hexdigest())  # so storage:sweep deletes what a crash leaves
        self.store(key, BytesIO(PROBE), len(PROBE))
        try:
            with self.open(key) as blob:
                found = blob.read()
        finally:
            self.delete(key)
        if found != PROBE:
            raise StorageUnavailable(f"The storage gave back {len(found)} other bytes than were stored")

    def tidy(self, before: datetime) -> int:
        """Delete what uploads that never ended left before this time (UTC, aware); return how many things that were.

        The storage may hold files of others. Delete only what frepo could have made: paths for which
        `is_partial_path` is true, and parts of uploads to keys for which `is_blob_key` is true.
        """
        return 0

    def url(self, key: str, *, expires: int, filename: str, content_type: str) -> str | None:
        """Make a URL from which a client may fetch the blob for `expires` seconds; None: the service streams it."""
        return None

    def path(self, key: str) -> Path | None:
        """Name the local file that holds the blob, for sendfile and X-Accel-Redirect; None: there is none."""
        return None


@dataclass(frozen=True, kw_only=True)
class StorageSpec:
    """A backend that can be chosen by `fs.adapter = <name>`.

    `build` gets an instance of `settings` and imports its driver only then.
    """

    name: str
    settings: type[StorageSettings]
    build: Callable[[Any], StorageBackend]
    summary: str = ""
