"""Content that was received and not stored yet, as the upload checks see it."""

import threading
from types import TracebackType
from typing import BinaryIO, Self

from frepo_core.domain.structs import struct
from frepo_core.plugins import CollectionInfo

from ..ingest import Content
from .positioned_file import open_at


@struct
class UploadTarget:
    """What an upload is for: the name of the file, and the collection of a version, None for a file."""

    file_name: str
    collection: CollectionInfo | None = None


class SpooledContent:
    """Implements `frepo_core.plugins.UploadedContent` over the stream that the storage reads later.

    At its end, as a context manager, it sets the stream to where it was; a thread that a check left behind can then no
    longer move it.
    """

    def __init__(self, content: Content, target: UploadTarget) -> None:
        self._stream = content.stream
        self._start = content.stream.tell()
        self._lock = threading.Lock()
        self._is_over = False
        self.size = content.size
        self.sha256 = content.digest
        self.mime_type = content.mime
        self.file_name = target.file_name
        self.collection = target.collection

    def open(self) -> BinaryIO:
        """See `UploadedContent.open`."""
        return open_at(self.size, self.read_at)

    def read_at(self, position: int, size: int) -> bytes:
        """Read at most `size` bytes from a position. Raises `ValueError` after the end of the checks."""
        with self._lock:
            if self._is_over:
                raise ValueError("The check has returned, the content can no longer be read")
            self._stream.seek(self._start + position)
            return self._stream.read(size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._is_over = True
            self._stream.seek(self._start)
