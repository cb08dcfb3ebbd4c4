"""Wraps a plug-in's storage, so that an error that breaks the contract names the package that raised it."""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar, cast

from frepo_core.errors import FrepoError, PluginError, StorageUnavailable
from frepo_core.plugins import BlobStat, StorageBackend

from ...base.plugin_failures import PLUGIN_FAILURES

Answer = TypeVar("Answer")
_END = object()


class GuardedStorage(StorageBackend):
    """A backend that raises only errors of the contract.

    An `OSError` becomes `StorageUnavailable`. Any other exception, and an answer of a wrong type, becomes
    `PluginError`.
    """

    def __init__(self, backend: StorageBackend, origin: str) -> None:
        self._backend = backend
        self._origin = origin

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the backend that is not part of the contract."""
        return getattr(self._backend, name)

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        with guarded(self._origin, "store"):
            self._backend.store(key, content, size)

    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """See `StorageBackend.open`. The reader is wrapped as well."""
        with guarded(self._origin, "open"):
            opened = self._backend.open(key, start, length)
        if not callable(getattr(opened, "read", None)):
            raise self._wrong_type("open", opened, "a readable file")
        return cast(BinaryIO, GuardedReader(opened, self._origin))

    def delete(self, key: str) -> None:
        with guarded(self._origin, "delete"):
            self._backend.delete(key)

    def retain(self, key: str, until: datetime) -> bool:
        with guarded(self._origin, "retain"):
            found = self._backend.retain(key, until)
        return self._checked("retain", found, bool)

    def break_retention(self, key: str) -> Sequence[str]:
        with guarded(self._origin, "break_retention"):
            return [str(one) for one in self._backend.break_retention(key)]

    def server(self) -> str:
        with guarded(self._origin, "server"):
            found = self._backend.server()
        return self._checked("server", found, str)

    def stat(self, key: str) -> BlobStat:
        with guarded(self._origin, "stat"):
            found = self._backend.stat(key)
        return self._checked("stat", found, BlobStat)

    def list(self) -> Iterator[BlobStat]:
        with guarded(self._origin, "list"):
            blobs = iter(self._backend.list())
        while True:
            with guarded(self._origin, "list"):
                found: Any = next(blobs, _END)
            if found is _END:
                return
            yield self._checked("list", found, BlobStat)

    def check(self) -> None:
        with guarded(self._origin, "check"):
            self._backend.check()

    def tidy(self, before: datetime) -> int:
        with guarded(self._origin, "tidy"):
            count = self._backend.tidy(before)
        return self._checked("tidy", count, int)

    def url(self, key: str, *, expires: int, filename: str, content_type: str) -> str | None:
        with guarded(self._origin, "url"):
            found = self._backend.url(key, expires=expires, filename=filename, content_type=content_type)
        return None if found is None else self._checked("url", found, str)

    def path(self, key: str) -> Path | None:
        with guarded(self._origin, "path"):
            found = self._backend.path(key)
        return None if found is None else self._checked("path", found, Path)

    def free_space(self) -> int | None:
        with guarded(self._origin, "free_space"):
            found = self._backend.free_space()
        return None if found is None else self._checked("free_space", found, int)

    def total_space(self) -> int | None:
        with guarded(self._origin, "total_space"):
            found = self._backend.total_space()
        return None if found is None else self._checked("total_space", found, int)

    def close(self) -> None:
        with guarded(self._origin, "close"):
            self._backend.close()

    def _checked(self, method: str, found: Any, kind: type[Answer]) -> Answer:
        if not isinstance(found, kind):
            raise self._wrong_type(method, found, f"a {kind.__name__}")
        return found

    def _wrong_type(self, method: str, found: Any, expected: str) -> PluginError:
        return PluginError(f"{self._origin} answered {method}() with {found!r}, which is not {expected}")


class GuardedReader:
    """An open blob whose `read` and `close` raise only errors of the contract."""

    def __init__(self, file: BinaryIO, origin: str) -> None:
        self._file = file
        self._origin = origin

    def __getattr__(self, name: str) -> Any:
        """Return another attribute of the file, such as `seek`."""
        return getattr(self._file, name)

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes."""
        with guarded(self._origin, "read"):
            data = self._file.read(size)
        if not isinstance(data, bytes | bytearray | memoryview):
            raise PluginError(f"{self._origin} answered read() with {data!r}, which is not bytes")
        return data

    def close(self) -> None:
        """Close the file."""
        with guarded(self._origin, "close"):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def guarded(origin: str, method: str) -> Iterator[None]:
    """Name the plug-in in exceptions that are not errors of the contract."""
    try:
        yield
    except FrepoError:
        raise
    except OSError as error:
        raise StorageUnavailable(f"{origin} failed in {method}(): {type(error).__name__}: {error}") from error
    except PLUGIN_FAILURES as error:
        if not isinstance(error, Exception) and threading.current_thread() is threading.main_thread():
            raise  # a signal ends the process: the main thread sends local files
        raise PluginError(f"{origin} failed in {method}(): {type(error).__name__}: {error}") from error
