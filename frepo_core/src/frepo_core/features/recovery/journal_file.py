"""Reads one file of the journal, or a catalogue, as `JournalWriter` has written it."""

import gzip
import hashlib
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from frepo_core.domain.json_objects import parse_object
from frepo_core.errors import FrepoError

from .journal.journal_files import FORMAT
from .journal.json_rows import Values

_NOTHING: Values = {}
# A line holds one object. A longer one is not from frepo.
_LONGEST_LINE = 64 << 20
# Each takes about a hundred bytes of memory.
_MOST_VALUES = 2_000_000
# Each line names another object, which takes a compressed byte at least. Small files may have more.
_FEW_LINES = 100_000


class JournalDamagedError(FrepoError):
    """A part of the journal or a catalogue cannot be read to its end, or its digest is wrong."""


class JournalFile:
    """A file that was written by `JournalWriter`, on the local disk. `digest` and `seal` are known after `check`."""

    def __init__(self, path: Path) -> None:
        """Read the head. Raises `JournalDamagedError`."""
        self._path = path
        self.digest = ""
        self.seal: Any = None
        with closing(self._lines()) as lines:
            self.head: Values = next(iter(lines), (b"", _NOTHING))[1]
        if self.head.get("format") != FORMAT:
            found = f"{self.head.get('format')!r}"[:32]
            raise JournalDamagedError(f"its format is {found}, this version of frepo reads {FORMAT}")
        if problem := _find_problem(self.head):
            raise JournalDamagedError(f"its head has an impossible {problem}")

    def objects(self) -> Iterator[tuple[str, tuple[Any, ...], list[Values]]]:
        """Yield name, key and values of each object.

        Raises `JournalDamagedError` at the end if the file is not as it was written: use nothing of it then.
        """
        digest, objects, lines = hashlib.sha256(), -1, self._lines()  # the head is no object
        for raw, line in lines:
            if end := line.get("end"):
                self.digest = digest.hexdigest()
                if end != {"objects": objects, "sha256": self.digest}:
                    raise JournalDamagedError("its digest is not that of its lines")
                self.seal = next(lines, (b"", _NOTHING))[1].get("seal")
                return
            digest.update(raw)
            objects += 1
            if objects:
                yield _parse(line)
        raise JournalDamagedError("it has no end")

    def check(self) -> int:
        """Read all of it; return the number of objects. Raises `JournalDamagedError`."""
        return sum(1 for _ in self.objects())

    def _lines(self) -> Generator[tuple[bytes, Values], None, None]:
        try:
            most = _FEW_LINES + self._path.stat().st_size
            with gzip.open(self._path, "rb") as file:
                while raw := file.readline(_LONGEST_LINE):
                    if (most := most - 1) < 0:
                        raise ValueError("it has more lines than so few bytes can say something in")
                    if raw.count(b",") > _MOST_VALUES:
                        raise ValueError(f"a line has more than {_MOST_VALUES} values")
                    yield raw, parse_object(raw)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise JournalDamagedError(f"it cannot be read: {type(error).__name__}: {error}") from error


def _find_problem(head: Values) -> str | None:
    """Return the name of a value in a head that it cannot have, or None."""
    for name in ("database", "schema"):
        if not isinstance(head.get(name), str):
            return name
    for name in ("position", *(["since_position"] if head.get("frepo") == "journal" else [])):
        if type(head.get(name)) is not int:
            return name
    try:
        is_aware = datetime.fromisoformat(head["made_at"]).tzinfo is not None
    except (KeyError, TypeError, ValueError):
        return "made_at"
    return None if is_aware else "made_at"


def _parse(line: Values) -> tuple[str, tuple[Any, ...], list[Values]]:
    """Return name, key and values of an object. Raises `JournalDamagedError` if the line is no object."""
    match line:
        case {"object": str(name), "key": [*key], "values": [*values]}:
            if all(isinstance(one, str | int) for one in key) and all(isinstance(one, dict) for one in values):
                return name, tuple(key), values
    raise JournalDamagedError(f"a line is no object: {line!r:.100}")
