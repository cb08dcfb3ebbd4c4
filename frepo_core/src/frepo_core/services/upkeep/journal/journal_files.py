"""The format of the journal and of the catalogues: JSON lines in gzip, with a head, and a digest at the end.

docs/recovery.md describes it. Each line between the head and the end is an object with its complete state:

    {"object": "version", "key": ["db1", 3], "values": [{...}]}

In the journal, an empty list of values says that the object does not exist any more. After the end, a seal says who has
written the file: see `seals`.
"""

import gzip
import hashlib
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from frepo_core.domain.json_objects import parse_object
from frepo_core.errors import FrepoError

from .json_rows import Values, dump

FORMAT = 1
_ABOUT = (
    "What the backup service frepo knew about the blobs in this storage. Keep it: a lost database is recovered "
    "from it. See docs/recovery.md of frepo, or use docs/recover_by_hand.py."
)
_LEVEL = 6
_NOTHING: Values = {}
# A line holds one object. A longer one is not from frepo.
_LONGEST_LINE = 64 << 20
# Each takes about a hundred bytes of memory.
_MOST_VALUES = 2_000_000


class JournalDamagedError(FrepoError):
    """A part of the journal or a catalogue cannot be read to its end, or its digest is wrong."""


class JournalWriter:
    """Writes one file; `finish` writes the end, without which a file is not whole."""

    def __init__(self, file: BinaryIO, what: str, head: Values) -> None:
        """`what` is `journal` or `catalogue`. The file stays open."""
        self.objects = 0
        self.digest = ""
        self._gzip = gzip.GzipFile("", "wb", _LEVEL, file, mtime=0)
        self._digest = hashlib.sha256()
        self._write({"frepo": what, "format": FORMAT, "about": _ABOUT, **head})

    def add(self, name: str, key: Sequence[Any], values: Sequence[Values]) -> None:
        """Write an object with its complete state."""
        self.objects += 1
        self._write({"object": name, "key": key, "values": values})

    def finish(self) -> None:
        """Write the number of objects, and the SHA-256 of all lines before this one, which `digest` is then."""
        self.digest = self._digest.hexdigest()
        end = {"objects": self.objects, "sha256": self.digest}
        self._gzip.write(f"{dump({'end': end})}\n".encode())
        self._gzip.close()

    def _write(self, line: Any) -> None:
        data = f"{dump(line)}\n".encode()
        self._digest.update(data)
        self._gzip.write(data)


def pack_seal(seal: Values) -> bytes:
    """Return what is stored after the file: it differs between storages, the file does not (RFC 1952, 2.2: members)."""
    return gzip.compress(f"{dump({'seal': seal})}\n".encode(), _LEVEL, mtime=0)


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
            with gzip.open(self._path, "rb") as file:
                while raw := file.readline(_LONGEST_LINE):
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
