"""What every storage has to get right in the same way: what is a key, and that no byte is missing."""

import io
import os
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from frepo_core.domain.naming import digest_in_key
from frepo_core.errors import StorageUnavailable

PARTIAL = ".partial-"
CHUNK = 1 << 20

_PARTIAL_PATH = re.compile(r"[0-9a-f]{2}/" + re.escape(PARTIAL) + "[0-9a-f]{16}")


def partial_name() -> str:
    """Make a name for a blob that is still being written; no key has it, and no other blob."""
    return f"{PARTIAL}{os.urandom(8).hex()}"


def is_key(text: str) -> bool:
    """Tell whether this can be a blob's key: a path that leads down, and of no blob that is still being written.

    Line ends and NUL are refused, too: in many protocols they end a command or a name.
    """
    is_path = all(part not in {"", ".", ".."} and not part.startswith(PARTIAL) for part in text.split("/"))
    return is_path and not any(character in text for character in "\r\n\0")


def is_blob_key(text: str) -> bool:
    """Tell whether frepo could have made this key: the whole key is compared, with the digest and the random part.

    A storage may hold files of others, too. Only what this function accepts is ever deleted as an orphan.
    """
    return digest_in_key(text) is not None


def is_partial_path(text: str) -> bool:
    """Tell whether this path below the storage's root could be a blob of frepo that was not written to its end.

    That is a name of `partial_name` in the folder of a key of frepo. `tidy` deletes nothing else.
    """
    return _PARTIAL_PATH.fullmatch(text) is not None


def exactly(content: BinaryIO, size: int, chunk_size: int = CHUNK) -> Iterator[bytes]:
    """Read a content in chunks of at most `chunk_size` bytes, to its end.

    Raises `StorageUnavailable` where it has not `size` bytes; a chunk that goes beyond them is never yielded.
    What the content itself raises comes out as it is.
    """
    count = 0
    while chunk := content.read(chunk_size):
        count += len(chunk)
        if count > size:
            break
        yield chunk
    if count != size:
        found = f"more than {size}" if count > size else str(count)
        raise StorageUnavailable(f"The content has {found} bytes, not the {size} that were announced")


class ExactReader(io.RawIOBase):
    """Reads exactly `length` bytes; raises `StorageUnavailable` where they end early. Closing it calls `close`, once.

    `read` is called with how many bytes were read before and how many are wanted, at least one; it may give fewer.
    """

    def __init__(self, read: Callable[[int, int], bytes], length: int, close: Callable[[], object]) -> None:
        self._read = read
        self._length = length
        self._close = close
        self._count = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Read what comes next, at most `size` bytes, without a copy; all, where that is negative."""
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
        """Let go of what the bytes come from."""
        if not self.closed:
            super().close()
            self._close()
