"""Reads a stored content for a check, and keeps failures of the storage apart from what is wrong with the content."""

import os
from typing import BinaryIO, cast

from .byte_stream import CHUNK


class Unreadable(Exception):
    """The content cannot be read now, for example because its storage is down. That says nothing about it."""


class StoredContent:
    """A seekable file of `size` bytes. Whatever the storage raises, and an early end, is raised as `Unreadable`."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._position = 0

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes. Raises `Unreadable`."""
        try:
            data = self._file.read(size)
        except Exception as error:
            raise Unreadable(f"{type(error).__name__}: {error}") from error
        self._position += len(data)
        if size and not data and self._position < self._size:
            raise Unreadable(f"the storage returns {self._position} of {self._size} bytes")
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position, and return it. Raises `Unreadable`."""
        try:
            self._position = self._file.seek(offset, whence)
        except Exception as error:
            raise Unreadable(f"{type(error).__name__}: {error}") from error
        return self._position

    def read_through(self) -> None:
        """Read from the start to the end, which shows damaged bytes. Raises `Unreadable`."""
        self.seek(0)
        while self.read(CHUNK):
            pass

    @property
    def file(self) -> BinaryIO:
        """This content as a file: those who read it use `read` and `seek` only."""
        return cast(BinaryIO, self)
