"""The format of the journal and of the catalogues: JSON lines in gzip, with a head, and a digest at the end.

docs/recovery.md describes it. Each line between the head and the end is an object with its complete state:

    {"object": "version", "key": ["db1", 3], "values": [{...}]}

In the journal, an empty list of values says that the object does not exist any more. After the end, a seal says who has
written the file: see `seals`. `features.recovery` reads it.
"""

import gzip
import hashlib
from collections.abc import Sequence
from typing import Any, BinaryIO

from .json_rows import Values, dump

FORMAT = 1
_ABOUT = (
    "What the backup service frepo knew about the blobs in this storage. Keep it: a lost database is recovered "
    "from it. See docs/recovery.md of frepo, or use docs/recover_by_hand.py."
)
_LEVEL = 6


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
