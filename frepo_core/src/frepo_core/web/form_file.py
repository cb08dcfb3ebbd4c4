"""The body of a large form, whose file becomes a file of its own while it arrives."""

import contextlib
import io
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from frepo_core.errors import MalformedRequestError
from frepo_core.services.spooling import SpooledFile, SpoolFile, plain_file
from frepo_core.services.sums import Sums

from .multipart_body import FormReading, MultipartForm, find_file

LONGEST_TAIL = 1 << 20


def form_file(boundary: str, directory: str | None, workers: ThreadPoolExecutor, begun: bytes) -> SpooledFile:
    """Open a file for the body of a form, of which this much is there."""
    with contextlib.suppress(ValueError, MalformedRequestError):
        start = find_file(begun, boundary)
        if start is not None:
            reading = FormReading(boundary, begun[:start])
            file = SpoolFile(directory, workers, partial(_hash, reading))
            file.append(begun[start:])
            return FormFile(begun[:start], reading, file)
    return plain_file(directory, workers, begun)


class FormFile(io.RawIOBase):
    """A form as it was sent: what comes before its file is in memory, and so is what comes behind, at the end.

    So the file need not be copied out of the form. That is work ahead, never a verdict: of a form that is not such
    a one, or broken, `unpacked` says nothing, and whoever wants it reads it as it was sent.
    """

    def __init__(self, head: bytes, reading: FormReading, file: SpoolFile) -> None:
        self._head, self._tail = head, b""
        self._reading = reading
        self._file = file
        self._position = 0

    @property
    def length(self) -> int:
        """How long the form is by now, in bytes."""
        return len(self._head) + self._file.length + len(self._tail)

    def append(self, data: bytes) -> None:
        """Take more of the form."""
        self._file.append(data)

    def unpacked(self) -> tuple[MultipartForm, SpoolFile] | None:
        """Return what is in the form, and its file at its start; None where that has to be looked at again."""
        if self._position:
            return None
        if not self._tail:
            self._file.catch_up()
        form = self._reading.finish()
        if form is None or self.length - len(self._head) - form.length > LONGEST_TAIL:
            return None
        self._tail = self._tail or self._file.cut(form.length)
        self._file.seek(0)
        return form, self._file

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can be gone back in."""
        return True

    def tell(self) -> int:
        """Tell the position."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a position, counted from the start, the current one or the end."""
        self._position = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.length}[whence] + offset
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer as far as the form reaches."""
        filled = 0
        with memoryview(buffer) as view:
            while filled < len(view) and (data := self._read_some(len(view) - filled)):
                view[filled : filled + len(data)] = data
                filled += len(data)
                self._position += len(data)
        return filled

    def _read_some(self, size: int) -> bytes:
        """Read at the position, from one of the three places."""
        if self._position < len(self._head):
            return self._head[self._position : self._position + size]
        offset = self._position - len(self._head)
        if offset < self._file.length:
            return os.pread(self._file.fileno(), min(size, self._file.length - offset), offset)
        offset -= self._file.length
        return self._tail[offset : offset + size]

    def close(self) -> None:
        """Forget the form."""
        self._file.close()
        super().close()


def _hash(reading: FormReading, sums: Sums, block: bytes) -> None:
    for piece in reading.take(block):
        sums.update(piece)
