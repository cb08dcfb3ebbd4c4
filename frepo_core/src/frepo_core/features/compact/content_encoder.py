"""Encodes one content into a file, or decodes it, in the process for that."""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import StorageFull
from frepo_core.services.base.failpoints import hit
from frepo_core.services.base.temporary_folder import TemporaryFolder
from frepo_core.services.content.objects.decodable import find_path
from frepo_core.services.content.storages.backends import Backends

from .encoder.tasks import ObjectFile, Task
from .encoder_process import EncoderProcess

_PIECE = 1 << 20
# So much of the disk stays free for uploads.
_LEFT_FREE = 0.1


class ObjectFiles:
    """The files of one task, which are deleted at its end."""

    def __init__(self, database: Database, backends: Backends, directory: Path, pace: Callable[[int], None]) -> None:
        """`pace` is called with the size of each piece that is copied from a storage; it may end the work."""
        self._database = database
        self._backends = backends
        self._pace = pace
        self._directory = Path(tempfile.mkdtemp(dir=directory))
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
            raise StorageFull(
                f"{self._directory.parents[1]} has no room for {readable_size(size)} and a tenth of the disk"
            )

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


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """The file with the object of a content, its codec and its SHA-256; `raw` if none saves enough, and no object."""

    codec: str
    digest: str
    path: Path


class ContentEncoder:
    """Encodes contents, one after the other, at most `rate` bytes a second; 0: no limit."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        directory: str | None,
        *,
        rate: int,
        keep_going: Callable[[], None],
        pace: Callable[[int], None],
    ) -> None:
        """`keep_going` is called about once a second, `pace` with the bytes that are copied from a storage."""
        self._database = database
        self._backends = backends
        self._folder = TemporaryFolder("frepo-compact-", directory)
        self._rate = rate
        self._keep_going = keep_going
        self._pace = pace
        self._process = EncoderProcess()

    def _files(self) -> ObjectFiles:
        return ObjectFiles(self._database, self._backends, self._folder.path, self._pace)

    @contextlib.contextmanager
    def encoded(self, row: StoredObject, base: StoredObject | None, *, has_windows: bool = False) -> Iterator[Encoded]:
        """Encode a content, as the difference to a base if that saves more, into a file that is deleted afterwards.

        With `has_windows`, its segments may have several windows: the base stays whole.

        Raises `EncodingError`, `StorageFull` if the disk has no room for that, and what the storage raises.
        """
        with self._files() as files:
            files.require_room(row.size)
            task = Task(
                content=files.chain(row),
                size=row.size,
                base=files.chain(base) if base is not None else [],
                base_size=base.size if base is not None else 0,
                target=str(files.target),
                rate=self._rate,
                has_windows=has_windows,
            )
            outcome = self._process.encode(task, self._keep_going)
            hit("content_encoded")
            yield Encoded(codec=outcome.codec, digest=outcome.digest, path=files.target)

    def sketch(self, row: StoredObject) -> Sequence[int]:
        """Read a content, and return its sketch. Raises as `encoded` does."""
        with self._files() as files:
            task = Task(
                content=files.chain(row),
                size=row.size,
                base=[],
                base_size=0,
                target="",
                rate=self._rate,
                is_sketched=True,
            )
            return self._process.encode(task, self._keep_going).sketch

    @contextlib.contextmanager
    def decoded(self, row: StoredObject) -> Iterator[Path]:
        """Decode a content into a file that is deleted afterwards.

        Only first copies are read. Raises as `encoded` does.
        """
        with self._files() as files:
            files.require_room(row.size)
            content = files.chain(row)
            task = Task(
                content=content,
                size=row.size,
                base=[],
                base_size=0,
                target=str(files.target),
                rate=self._rate,
                is_raw=True,
            )
            self._process.encode(task, self._keep_going)
            yield files.target

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.close()
        self._folder.close()
