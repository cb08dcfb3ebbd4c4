"""The bytes of a storage behind the back of the service, in a folder or on a server: a test damages and burns them."""

import shutil
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.plugins import StorageBackend

Change = Callable[[bytes], bytes]


class FolderBytes:
    """The bytes of a local storage."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self) -> Iterator[tuple[str, str]]:
        """Yield the keys of contents and their digests."""
        for path in sorted(self._folder.glob("??/*")):
            yield f"{path.parent.name}/{path.name}", path.name.partition("-")[0]

    def delete(self, key: str) -> None:
        """Delete an object."""
        (self._folder / key).unlink()

    def change(self, key: str, change: Change) -> None:
        """Write other bytes in place of an object."""
        path = self._folder / key
        path.write_bytes(change(path.read_bytes()))

    def burn(self) -> Callable[[], None]:
        """Lose everything; return what takes that back."""
        away = self._folder.with_name("away")
        shutil.rmtree(away, ignore_errors=True)
        if self._folder.exists():
            self._folder.rename(away)
        else:
            away.mkdir()
        self._folder.mkdir()

        def take_back() -> None:
            shutil.rmtree(self._folder)
            away.rename(self._folder)

        return take_back


class ServerBytes:
    """The bytes of a storage on a server, through its plug-in."""

    def __init__(self, get: Callable[[], StorageBackend]) -> None:
        """`get` returns the storage, as the services have it now."""
        self._get = get

    def find(self) -> Iterator[tuple[str, str]]:
        """Yield the keys of contents and their digests."""
        for stat in sorted(self._get().list(), key=lambda stat: stat.key):
            if digest := parse_digest_in_key(stat.key):
                yield stat.key, digest

    def delete(self, key: str) -> None:
        """Delete an object."""
        self._get().delete(key)

    def change(self, key: str, change: Change) -> None:
        """Write other bytes in place of an object."""
        data = change(self._read(key))
        self._get().delete(key)
        self._store(key, data)

    def burn(self) -> Callable[[], None]:
        """Lose everything; return what takes that back."""
        kept = {stat.key: self._read(stat.key) for stat in list(self._get().list())}
        for key in kept:
            self._get().delete(key)

        def take_back() -> None:
            for key, data in kept.items():
                self._store(key, data)

        return take_back

    def _read(self, key: str) -> bytes:
        with self._get().open(key) as stored:
            return bytes(stored.read())

    def _store(self, key: str, data: bytes) -> None:
        self._get().store(key, BytesIO(data), len(data))
