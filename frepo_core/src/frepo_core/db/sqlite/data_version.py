"""Asks SQLite for its data version, which changes with each commit by another connection or process.

Each request asks for it. Python's driver releases the interpreter's lock three times for it, and each time another
thread may take its turn: small downloads with a token reach 0.77 to 0.84 of their rate, public ones 0.86 to 0.93. So
SQLite's own functions (https://www.sqlite.org/c3ref) are called without releasing the lock, where they can be found.
They are taken from the library that the driver has loaded: with two copies of SQLite, a process would lose its locks on
the database.
"""

import ctypes
import sqlite3
from typing import Any, Protocol

_QUERY = "PRAGMA data_version"
_READ_WRITE, _URI = 0x2, 0x40  # flags of sqlite3_open_v2; readers write to the shared memory of the write-ahead log
_ROW = 100
_POINTER, _OUT = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
_SIGNATURES = {
    "sqlite3_open_v2": [ctypes.c_char_p, _OUT, ctypes.c_int, ctypes.c_char_p],
    "sqlite3_prepare_v2": [_POINTER, ctypes.c_char_p, ctypes.c_int, _OUT, _OUT],
    "sqlite3_step": [_POINTER],
    "sqlite3_column_int": [_POINTER, ctypes.c_int],
    "sqlite3_reset": [_POINTER],
    "sqlite3_finalize": [_POINTER],
    "sqlite3_close_v2": [_POINTER],
}


class DataVersion(Protocol):
    """A connection that asks for the data version. One thread at a time may use it."""

    def read(self) -> int:
        """Return the version. Raises `sqlite3.Error`, at once if the database is locked."""

    def close(self) -> None:
        """Close the connection."""


def connect(path: str) -> DataVersion:
    """Open the database. Raises `sqlite3.Error`."""
    library = _load()
    return NativeDataVersion(library, path) if library else DriverDataVersion(path)


class NativeDataVersion:
    """Calls SQLite's functions."""

    def __init__(self, library: Any, path: str) -> None:
        self._library = library
        self._database, self._statement = ctypes.c_void_p(), ctypes.c_void_p()
        flags = _READ_WRITE | (_URI if path.startswith("file:") else 0)
        if library.sqlite3_open_v2(path.encode(), self._database, flags, None) or library.sqlite3_prepare_v2(
            self._database, _QUERY.encode(), -1, self._statement, None
        ):
            self.close()
            raise sqlite3.OperationalError("the database cannot be opened")

    def read(self) -> int:
        """Return the version."""
        try:
            if self._library.sqlite3_step(self._statement) != _ROW:
                raise sqlite3.OperationalError("the database is locked")
            return int(self._library.sqlite3_column_int(self._statement, 0))
        finally:
            self._library.sqlite3_reset(self._statement)

    def close(self) -> None:
        """Close the connection."""
        self._library.sqlite3_finalize(self._statement)
        self._library.sqlite3_close_v2(self._database)
        self._database, self._statement = ctypes.c_void_p(), ctypes.c_void_p()

    __del__ = close


class DriverDataVersion:
    """Uses Python's driver."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, timeout=0, check_same_thread=False, uri=path.startswith("file:"))

    def read(self) -> int:
        """Return the version."""
        return int(self._connection.execute(_QUERY).fetchall()[0][0])

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _load() -> Any:
    """Return SQLite's functions as the driver's own module finds them, or None."""
    import _sqlite3

    try:
        library = ctypes.PyDLL(_sqlite3.__file__)
        for name, types in _SIGNATURES.items():
            getattr(library, name).argtypes = types
    except (AttributeError, OSError):  # the driver is a part of Python itself, or hides the functions
        return None
    return library
