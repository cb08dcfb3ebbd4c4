"""Encodes one content into a file, or decodes it, in the process for that."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.services.base.failpoints import hit
from frepo_core.services.content.storages.backends import Backends

from .encoder.tasks import Task
from .encoder_process import EncoderProcess
from .object_files import ObjectFiles


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
        self._directory = directory
        self._rate = rate
        self._keep_going = keep_going
        self._pace = pace
        self._process = EncoderProcess()

    @contextlib.contextmanager
    def encoded(self, row: StoredObject, base: StoredObject | None, *, has_windows: bool = False) -> Iterator[Encoded]:
        """Encode a content, as the difference to a base if that saves more, into a file that is deleted afterwards.

        With `has_windows`, its segments may have several windows: the base stays whole.

        Raises `EncodingError`, `StorageFull` if the disk has no room for that, and what the storage raises.
        """
        with ObjectFiles(self._database, self._backends, self._directory, self._pace) as files:
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
        with ObjectFiles(self._database, self._backends, self._directory, self._pace) as files:
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
        with ObjectFiles(self._database, self._backends, self._directory, self._pace) as files:
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
