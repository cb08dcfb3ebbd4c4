"""The body of a request, which may be compressed on the way."""

import gzip
import hashlib
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from frepo_core.plugins import EndpointError
from frepo_core.web import FrepoRequest, check_coded_start, coding_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# The largest segment that PostgreSQL can have.
MAX_SIZE = 1 << 30
_PIECE = 1 << 20
_IN_MEMORY = 32 << 20


@contextmanager
def opened_body(request: FrepoRequest) -> "Iterator[Body]":
    """Open the body of a request. A server that gives no file of it makes a copy necessary."""
    with ExitStack() as stack:
        file = request.environ["wsgi.input"]
        if not getattr(file, "seekable", bool)():
            file = stack.enter_context(SpooledTemporaryFile(_IN_MEMORY))
            shutil.copyfileobj(request.body_file, file, _PIECE)
        yield Body(file, coding_of(request))


class Body:
    """A body that can be read again from its start."""

    def __init__(self, file: BinaryIO, coding: str | None) -> None:
        self._file, self.coding = file, coding
        if coding:
            check_coded_start(self.begin().read(64), coding)

    def head(self, size: int) -> bytes:
        """Return the first bytes of the content."""
        return self._read(size)

    def sha256(self) -> str:
        """Return the SHA-256 of the content in lower-case hex."""
        digest, size = hashlib.sha256(), 0
        with closing(self._open()) as content:
            while piece := _checked_read(content, _PIECE):
                digest.update(piece)
                if (size := size + len(piece)) > MAX_SIZE:
                    raise EndpointError(413, f"The content is larger than {MAX_SIZE} bytes")
        return digest.hexdigest()

    def begin(self) -> BinaryIO:
        """Return the file of the body, at its start."""
        self._file.seek(0)
        return self._file

    def _read(self, size: int) -> bytes:
        with closing(self._open()) as content:
            return _checked_read(content, size)

    def _open(self) -> BinaryIO:
        """Return the content at its start. Closing it leaves the body open."""
        self._file.seek(0)
        if self.coding == "gzip":
            return cast(BinaryIO, gzip.GzipFile(fileobj=self._file, mode="rb"))
        if self.coding == "zstd":
            return cast(BinaryIO, zstd.ZstdFile(self._file))
        return cast(BinaryIO, _LeftOpen(self._file))


class _LeftOpen:
    """A file that stays open when this is closed."""

    def __init__(self, file: BinaryIO) -> None:
        self.read = file.read

    def close(self) -> None:
        """Leave the file open."""


def _checked_read(content: BinaryIO, size: int) -> bytes:
    try:
        return content.read(size)
    except (OSError, EOFError, zlib.error, zstd.ZstdError) as error:
        raise EndpointError(400, f"The body is not in the coding that its header names: {error}") from error
