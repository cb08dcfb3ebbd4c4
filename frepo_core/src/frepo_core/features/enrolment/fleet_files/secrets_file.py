"""The CSV file to which `fleet:create` appends new tokens, or codes. Each is shown only once: no line is replaced."""

import csv
import errno
import io
import os
from collections.abc import Mapping, Sequence
from typing import Self

from frepo_core.domain.structs import struct
from frepo_core.domain.texts.foreign_text import spreadsheet_cell
from frepo_core.errors import FieldsError

_LONGEST_LINE = 1 << 16


@struct
class SecretsTable:
    """What such a file contains (`what`, plural), the option that names it, and its columns."""

    what: str
    option: str
    columns: Sequence[str]


TOKENS = SecretsTable(what="tokens", option="--tokens", columns=("Host", "Collection", "Token", "Fingerprint"))
CODES = SecretsTable(what="codes", option="--codes", columns=("Host", "Collection", "Code", "Expires"))


class SecretsFile:
    """A file that only its owner can read, open for lines to be added. Its first line names the columns."""

    def __init__(self, path: str, table: SecretsTable) -> None:
        """Open the file, or make it. Raises `FieldsError` if that fails, or if it is a file of something else."""
        self._path = path
        self._table = table
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(path, flags, 0o600)
            self._require_own()
            self._columns = self._read_columns() or self._write_columns()
        except OSError as error:
            is_link = error.errno == errno.ELOOP
            raise self._refused("is a link" if is_link else f"cannot be written: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def add(self, values: Mapping[str, str | None]) -> None:
        """Add a line, and wait until it is on the disk. Raises `FieldsError`."""
        try:
            self._write([values.get(name) or "" for name in self._columns])
        except OSError as error:
            raise self._refused(f"cannot be written: {error.strerror}") from error

    def _require_own(self) -> None:
        """Raise `FieldsError` for a file of another user, who may have made it to read the secrets."""
        if os.fstat(self._descriptor).st_uid != os.geteuid():
            raise self._refused("belongs to another user, who would read the secrets: name another file")

    def _read_columns(self) -> list[str]:
        """Return the columns of an existing file, and complete its last line. Those after the known ones stay empty."""
        size = os.fstat(self._descriptor).st_size
        if not size:
            return []
        first = os.pread(self._descriptor, _LONGEST_LINE, 0).decode("utf-8-sig", "replace").splitlines()[0]
        columns = next(csv.reader([first]), [])
        if not set(self._table.columns) <= set(columns):
            first = ",".join(self._table.columns)
            raise self._refused(f"is another file: the first line of a file of {self._table.what} is {first}")
        if os.pread(self._descriptor, 1, size - 1) != b"\n":
            os.write(self._descriptor, b"\n")
        return columns

    def _write_columns(self) -> list[str]:
        self._write(self._table.columns)
        return list(self._table.columns)

    def _write(self, cells: Sequence[str]) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(map(spreadsheet_cell, cells))
        data = line.getvalue().encode()
        if os.write(self._descriptor, data) != len(data):
            raise OSError(0, "the disk is full")
        os.fsync(self._descriptor)

    def _refused(self, problem: str) -> FieldsError:
        return FieldsError({self._table.option: [f"{self._path!r} {problem}"]})
