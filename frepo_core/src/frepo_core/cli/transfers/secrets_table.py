"""The CSV file with the secrets of many tokens or codes that are made at once: it is on the disk before the first is.

A secret is shown only once. So the ids are chosen first, and written to a file that only its owner can read; then the
tokens are made. A run that was interrupted is repeated with the same file: it makes those that are missing, with the
ids that the file has. Nothing that the file has is ever left out.
"""

import contextlib
import csv
import errno
import fcntl
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from frepo_core.domain.identity import parse_uuid4
from frepo_core.domain.texts.foreign_text import spreadsheet_cell
from frepo_core.errors import FieldsError

from .streams import STDIO, target

OPTION = "--secrets"
TOKEN, CODE = "Token", "Code"
_FORMS: Mapping[str, Callable[[str], object]] = {
    TOKEN: lambda text: parse_uuid4(text.lower()),
    CODE: re.compile(r"[0-9a-f]{32}").fullmatch,
}


class SecretsTable:
    """A file of secrets, as it was when it was read, with the lines that are added.

    The secrets are in the column `secret`: `Token`, or `Code` for one-time codes. `option` names the file on the
    command line.
    """

    def __init__(self, path: str, columns: Sequence[str], *, option: str = OPTION) -> None:
        """Read the file, if there is one. Raises `FieldsError` if it is no file of these columns, or not the user's."""
        self._path = path
        self._columns = tuple(columns)
        self._option = option
        self.secret = CODE if CODE in columns else TOKEN
        if path == STDIO:
            raise self._refused("is stdout, which is not on the disk: name a file")
        self.rows: list[dict[str, str]] = self._read()

    def write(self, rows: Iterable[Mapping[str, str]]) -> None:
        """Add lines, and wait until the whole file is on the disk, under its name.

        Raises `FieldsError`, also if another command has changed the file since it was read: its secrets stay.
        """
        with self._alone():
            if self._read() != self.rows:
                raise self._refused("was changed meanwhile by another command: run this one again")
            self.rows += [{name: str(spreadsheet_cell(row.get(name, ""))) for name in self._columns} for row in rows]
            self._replace()

    def _replace(self) -> None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self._columns)
        writer.writerows([row[name] for name in self._columns] for row in self.rows)
        with target(self._path, replaces=True, option=self._option) as file:
            file.write(text.getvalue().encode())

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other command read and replace files of secrets in this folder. Not every file system can do that."""
        try:
            descriptor = os.open(Path(self._path).parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise self._refused(f"cannot be written: {error.strerror}") from error
        try:
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

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
        if wrong := [row for row in rows if not _FORMS[self.secret](row[self.secret])]:
            raise self._refused(
                f"has no {self.secret.lower()} in the line of {wrong[0][self._columns[0]]!r}: it was changed by hand"
            )
        return rows

    def _refused(self, problem: str) -> FieldsError:
        return FieldsError({self._option: [f"{self._path!r} {problem}"]})
