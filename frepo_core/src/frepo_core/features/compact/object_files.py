"""Brings the objects of a content into files, for the process that encodes; those of a local storage are files."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import StorageFull
from frepo_core.services.content.objects.decodable import find_path
from frepo_core.services.content.storages.backends import Backends

from .encoder.tasks import ObjectFile

_PIECE = 1 << 20
# So much of the disk stays free for uploads.
_LEFT_FREE = 0.1


class ObjectFiles:
    """The files of one task, which are deleted at its end."""

    def __init__(
        self, database: Database, backends: Backends, directory: str | None, pace: Callable[[int], None]
    ) -> None:
        """`pace` is called with the size of each piece that is copied from a storage; it may end the work."""
        self._database = database
        self._backends = backends
        self._pace = pace
        self._directory = Path(tempfile.mkdtemp(prefix="frepo-compact-", dir=directory))
        self.target = self._directory / "target"

    def chain(self, row: StoredObject) -> list[ObjectFile]:
        """Return the file of an object, then those of all that it needs. Raises what the storage raises."""
        files = [self._file(row)]
        if row.base_digest is not None:
            with self._database.reading() as session:
                path = find_path(session, row.base_digest, row.storage) or []
            files += [self._file(each) for each in path]
        return files

    def require_room(self, size: int) -> None:
        """Raise `StorageFull` unless `size` bytes fit on the disk and some of it stays free."""
        disk = shutil.disk_usage(self._directory)
        if disk.free - size < disk.total * _LEFT_FREE:
            raise StorageFull(f"{self._directory.parent} has no room for {readable_size(size)} and a tenth of the disk")

    def _file(self, row: StoredObject) -> ObjectFile:
        backend = self._backends.get(row.storage)
        key = str(row.key)
        path = backend.path(key)
        if path is None:
            path = self._directory / row.digest
            if not path.exists():
                self.require_room(row.object_size)
                with backend.open(key) as content, path.open("wb") as file:
                    # What is longer than its record is found to be wrong, and may be terabytes.
                    while file.tell() <= row.object_size and (piece := content.read(_PIECE)):
                        file.write(piece)
                        self._pace(len(piece))
        return ObjectFile(path=str(path), encoding=row.encoding, digest=row.digest)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)
