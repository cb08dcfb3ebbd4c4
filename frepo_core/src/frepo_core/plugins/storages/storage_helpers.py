"""Helpers for authors of storages: keys, names of partial files, and exact lengths."""

import io
import os
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from frepo_core.domain.naming import JOURNAL_FOLDERS, is_journal_key, is_opaque_key, parse_digest_in_key
from frepo_core.errors import StorageUnavailable

PARTIAL = ".partial-"
CHUNK = 1 << 20

_FOLDERS = "|".join(["[0-9a-f]{2}", *JOURNAL_FOLDERS])
_PARTIAL_PATH = re.compile(f"(?:{_FOLDERS})/" + re.escape(PARTIAL) + "[0-9a-f]{16}")


def partial_name() -> str:
    """Return a unique name for a blob that is being written. No key has such a name."""
    return f"{PARTIAL}{os.urandom(8).hex()}"


def is_key(text: str) -> bool:
    """Whether this is a valid key: a relative path without `..`, and not the name of a partial file.

    Line ends and NUL are refused, because they end commands and names in many protocols.
    """
    is_path = all(part not in {"", ".", ".."} and not part.startswith(PARTIAL) for part in text.split("/"))
    return is_path and not any(character in text for character in "\r\n\0")


def is_blob_key(text: str) -> bool:
    """Whether frepo could have made this key: that of a blob, of a part of the journal, or of a catalogue.

    A storage over another one may give it keys that show no digest: two hex digits, `/`, 112 hex digits that begin with
    those two.

    The whole key is parsed, such as the digest and the random part. A storage may hold foreign files. Nothing but
    objects with keys that this function accepts is deleted.
    """
    return parse_digest_in_key(text) is not None or is_opaque_key(text) or is_journal_key(text)


def is_partial_path(text: str) -> bool:
    """Whether this path below the root of the storage could be a partial file of frepo.

    That is a name of `partial_name` in the folder of a key for which `is_blob_key` is true. `tidy` deletes nothing
    else.
    """
    return _PARTIAL_PATH.fullmatch(text) is not None


def exactly(content: BinaryIO, size: int, chunk_size: int = CHUNK) -> Iterator[bytes]:
    """Yield the content in chunks of at most `chunk_size` bytes.

    Raises `StorageUnavailable` if it does not have `size` bytes; a chunk beyond them is not yielded. Exceptions of the
    content are not caught.
    """
    count = 0
    while chunk := content.read(chunk_size):
        count += len(chunk)
        if count > size:
            break
        yield chunk
    if count != size:
        found = f"more than {size}" if count > size else str(count)
        raise StorageUnavailable(f"The content has {found} bytes, but {size} were announced")


class ExactReader(io.RawIOBase):
    """Reads exactly `length` bytes; raises `StorageUnavailable` if they end early. `close` is called once.

    `read` is called with the number of bytes that were read and the number to read, at least 1; it may return fewer.
    """

    def __init__(self, read: Callable[[int, int], bytes], length: int, close: Callable[[], object]) -> None:
        self._read = read
        self._length = length
        self._close = close
        self._count = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Read at most `size` bytes without a copy; all bytes if `size` is negative."""
        if size is None or size < 0:
            return self.readall()
        wanted = min(size, self._length - self._count)
        if not wanted:
            return b""
        data = self._read(self._count, wanted)
        if not data:
            raise StorageUnavailable(f"The blob ended {self._length - self._count} bytes early") from EOFError()
        self._count += len(data)
        return data

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer
        """Fill the buffer as far as the next bytes reach."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the source of the bytes."""
        if not self.closed:
            super().close()
            self._close()


class Window(io.RawIOBase):
    """Reads at most `length` bytes of a file from `start` on (None: to its end); closing it closes the file."""

    def __init__(self, file: BinaryIO, start: int, length: int | None) -> None:
        self._file = file
        self._left = length
        file.seek(start)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer
        """Fill the buffer as far as the window reaches."""
        wanted = len(buffer) if self._left is None else min(len(buffer), self._left)
        data = self._file.read(wanted)
        buffer[: len(data)] = data
        if self._left is not None:
            self._left -= len(data)
        return len(data)

    def close(self) -> None:
        """Close the file below."""
        self._file.close()
        super().close()
