"""The CSV file with the secrets of many tokens that are made at once: it is on the disk before the first is made.

A secret is shown only once. So the ids are chosen first, and written to a file that only its owner can read; then the
tokens are made. A run that was interrupted is repeated with the same file: it makes those that are missing, with the
ids that the file has. Nothing that the file has is ever left out.
"""

import csv
import errno
import io
import os
import stat
from collections.abc import Iterable, Mapping, Sequence

from frepo_core.domain.texts.foreign_text import spreadsheet_cell
from frepo_core.errors import FieldsError

from .streams import target

OPTION = "--secrets"


class SecretsTable:
    """A file of secrets, as it was when it was read, with the lines that are added."""

    def __init__(self, path: str, columns: Sequence[str]) -> None:
        """Read the file, if there is one. Raises `FieldsError` if it is no file of these columns, or not the user's."""
        self._path = path
        self._columns = tuple(columns)
        self.rows: list[dict[str, str]] = self._read()

    def write(self, rows: Iterable[Mapping[str, str]]) -> None:
        """Add lines, and wait until the whole file is on the disk, under its name. Raises `FieldsError`."""
        self.rows += [dict(row) for row in rows]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self._columns)
        writer.writerows([spreadsheet_cell(row.get(name, "")) for name in self._columns] for row in self.rows)
        with target(self._path, replaces=True, option=OPTION) as file:
            file.write(text.getvalue().encode())

    def _read(self) -> list[dict[str, str]]:
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return []
        except OSError as error:
            is_link = error.errno == errno.ELOOP
            raise self._refused("is a link" if is_link else f"cannot be read: {error.strerror}") from error
        with os.fdopen(descriptor, encoding="utf-8-sig", newline="") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise self._refused("is no file")
            if found.st_uid != os.geteuid():
                raise self._refused("belongs to another user, who would read the secrets: name another file")
            return self._parse(file)

    def _parse(self, file: Iterable[str]) -> list[dict[str, str]]:
        try:
            reader = csv.reader(file, strict=True)
            header = next(reader, list(self._columns))
            rows = [dict(zip(header, row, strict=True)) for row in reader if row]
        except (ValueError, csv.Error) as error:
            raise self._refused(f"is not a CSV file in UTF-8: {error}") from error
        if tuple(header) != self._columns:
            raise self._refused(f"is another file: the first line must be {','.join(self._columns)}")
        return rows

    def _refused(self, problem: str) -> FieldsError:
        return FieldsError({OPTION: [f"{self._path!r} {problem}"]})
