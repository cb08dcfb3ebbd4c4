"""A stream of a blob, or of a part of it, that reads from the data connection."""

import io
from socket import socket

from frepo_core.plugins import StorageUnavailable

from .connection import Connection
from .errors import DRIVER_ERRORS, translated
from .pool import Pool


class BlobReader(io.RawIOBase):
    """Reads exactly `length` bytes from a data connection, then returns the connection to the pool.

    `is_whole` says that the server sends no more than these bytes. Raises `StorageUnavailable` if it sends fewer.
    """

    def __init__(self, pool: Pool, connection: Connection, data: socket, length: int, *, is_whole: bool) -> None:
        self._pool = pool
        self._connection = connection
        self._data = data
        self._left = length
        self._is_whole = is_whole
        self._is_open = True

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer
        """Fill the buffer with the bytes that have arrived; wait for at least one."""
        if not self._left or not len(buffer):
            return 0
        try:
            with translated("sending a blob"):
                count = self._data.recv_into(memoryview(buffer)[: self._left])
            if not count:
                raise self._ended_early()
        except BaseException:
            self._drop()
            raise
        self._left -= count
        if not self._left:
            self._end()
        return count

    def close(self) -> None:
        """Abort the transfer if it is still running. The connection is reused if the server allows that."""
        self._end()
        super().close()

    def _ended_early(self) -> StorageUnavailable:
        error = StorageUnavailable(f"The FTP server ended a blob {self._left} bytes early")
        error.__cause__ = self._connection.pending_error() or EOFError("the data connection ended")
        return error

    def _end(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        if self._is_sent_in_full() or self._connection.abort(self._data):
            self._pool.give_back(self._connection)
        else:
            self._connection.close()

    def _is_sent_in_full(self) -> bool:
        if self._left or not self._is_whole:
            return False
        try:
            self._connection.finish(self._data)
        except DRIVER_ERRORS:  # all bytes have arrived; only the connection cannot be reused
            return False
        return True

    def _drop(self) -> None:
        self._is_open = False
        self._data.close()
        self._connection.close()
