"""Reads encoded contents: any range, from objects whose bases may be encoded themselves."""

import contextlib
import hashlib
import io
import os
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from frepo_core.errors import DamagedBaseError, DamagedObjectError, FrepoError

from . import libraries
from .format import Entry, checksum, read_fully, read_head, unpack_entry
from .frames import decompress, make_prefix
from .windows import Windows

_ENTRIES = 1024


def _no_other_base(error: Exception) -> BinaryIO:
    raise error


class DecodedContent(io.RawIOBase):
    """A seekable reader of the content of an object. Holds one segment, half a window and a part of the table.

    Each segment that is read is verified. Who reads all from start to end gets the SHA-256 verified as well: the last
    `read` raises instead of returning the end of wrong bytes. Closing it closes the object and its base.
    """

    def __init__(
        self,
        stored: BinaryIO,
        *,
        digest: str,
        open_base: Callable[[str], BinaryIO],
        size: int | None = None,
        open_other_base: Callable[[Exception], BinaryIO] = _no_other_base,
        is_base: bool = False,
    ) -> None:
        """`open_base` gets the SHA-256 (hex) of the base when it is needed, and returns a seekable reader of it.

        `open_other_base` is called when this one is wrong or fails, with the error. It returns a reader of another
        copy, or raises the error.

        `size` is that of the content in bytes, as recorded; None: nothing is recorded.
        With `is_base`, the SHA-256 of the whole is not computed: the content above verifies its windows.
        Raises `DamagedObjectError`; `ConfigurationError` for an unknown format, or if the extra `compact` is missing.
        """
        libraries.require_libraries()
        self._stored = stored
        self._open_base = open_base
        self._open_other_base = open_other_base
        self._base: BinaryIO | None = None  # before what may raise: `close` reads it, and Python calls that at the end
        self.head = read_head(stored, digest)
        length = stored.seek(0, os.SEEK_END)
        if length != self.head.stored:
            raise DamagedObjectError(digest, f"it has {length} bytes instead of {self.head.stored}")
        if size is not None and size != self.head.size:
            raise DamagedObjectError(digest, f"it says that the content has {self.head.size} bytes instead of {size}")
        self._windows: Windows | None = None
        self._position = 0
        self._segment, self._index = b"", -1
        self._entries, self._first_entry = b"", 0
        self._sha256 = None if is_base else hashlib.sha256()
        self._hashed = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Set the position, counted from the start, the current position or the end."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.head.size}[whence]
        self._position = max(0, origin + offset)
        return self._position

    def read(self, size: int | None = -1, /) -> bytes:
        """Read at most `size` bytes, at most to the end of a segment; all if it is negative.

        Raises `DamagedObjectError` or `DamagedBaseError`, and what the readers of the object and its base raise.
        """
        if size is None or size < 0:
            return b"".join(iter(partial(self.read, self.head.segment), b""))
        data = b""
        if self._position < self.head.size and size:
            index, start = divmod(self._position, self.head.segment)
            data = self._load(index)[start : start + size]
        self._hash(data)
        self._position += len(data)
        return data

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer
        """Read at most as many bytes as fit."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the object and, if it was opened, its base."""
        if not self.closed:
            self._stored.close()
            if self._base:
                self._base.close()
            self._base = self._windows = None
            self._segment, self._index = b"", -1
            super().close()

    def _hash(self, data: bytes) -> None:
        if self._sha256 is None or self._position > self._hashed:
            return
        new = data[self._hashed - self._position :]
        self._sha256.update(new)
        self._hashed += len(new)
        is_over = self._position + len(data) == self.head.size == self._hashed
        if is_over and self._sha256.hexdigest() != self.head.digest:
            raise DamagedObjectError(self.head.digest, "its SHA-256 is wrong")

    def _load(self, index: int) -> bytes:
        if index != self._index:
            self._segment, self._index = b"", -1  # before the base is read, which needs memory, too
            self._segment = self._decode(index)
            self._index = index
        return self._segment

    def _decode(self, index: int) -> bytes:
        entry = self._entry(index)
        prefix = make_prefix(self._window(entry, index)) if entry.window_length else None
        self._stored.seek(entry.offset)
        frame = read_fully(self._stored, entry.length)
        if checksum(frame) != entry.checksum:
            raise self._damaged("its bytes are wrong", index)
        try:
            return decompress(frame, self.head.segment_length(index), prefix)
        except ValueError as error:
            raise self._damaged(str(error), index) from error

    def _entry(self, index: int) -> Entry:
        size = self.head.entry_size
        if not self._first_entry <= index < self._first_entry + len(self._entries) // size:
            self._first_entry = index - index % _ENTRIES
            count = min(_ENTRIES, self.head.count - self._first_entry)
            self._stored.seek(self.head.table + self._first_entry * size)
            self._entries = read_fully(self._stored, count * size)
        start = (index - self._first_entry) * size
        return unpack_entry(self._entries[start : start + size], self.head, index)

    def _window(self, entry: Entry, index: int) -> bytearray:
        assert self.head.base
        if self._windows is None:
            self._use_base(self._open_base(self.head.base))
        while True:
            try:
                return self._read_window(entry, index)
            except (FrepoError, OSError) as error:
                self._close_base()
                self._use_base(self._open_other_base(error))

    def _read_window(self, entry: Entry, index: int) -> bytearray:
        assert self.head.base
        assert self._windows
        try:
            window = self._windows.read_all(entry.windows)
        except (DamagedObjectError, DamagedBaseError) as error:
            raise DamagedBaseError(self.head.digest, self.head.base, error.message, segment=index) from error
        if checksum(window) != entry.window_checksum:
            raise DamagedBaseError(self.head.digest, self.head.base, "its bytes are not those of then", segment=index)
        return window

    def _use_base(self, base: BinaryIO) -> None:
        self._base, self._windows = base, Windows(base)

    def _close_base(self) -> None:
        base, self._base, self._windows = self._base, None, None
        if base:
            with contextlib.suppress(FrepoError, OSError):
                base.close()

    def _damaged(self, what: str, index: int) -> DamagedObjectError:
        return DamagedObjectError(self.head.digest, what, segment=index)
