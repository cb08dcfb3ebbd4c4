"""Keeps what became of ended uploads, so that their clients can ask: a folder for each token, with a limit."""

import contextlib
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from .disk.part_file import make_folder

FOLDER = "ended"
# How many outcomes of one token are kept; of more, the oldest are forgotten at once.
MOST_OF_TOKEN = 1000


class EndedUploads:
    """The records of ended uploads, apart from those of open ones. Errors are `OSError`."""

    def __init__(self, folder: Path, suffix: str) -> None:
        """`folder` has the open ones, `suffix` is what a record's name ends with."""
        self._folder, self._suffix = folder / FOLDER, suffix

    def path(self, upload: str, owner: str) -> Path:
        """Return where the record of an upload is, in a folder that exists and has room for it."""
        folder = self._folder / owner
        make_folder(folder)
        self._forget_oldest(folder)
        return folder / f"{upload}{self._suffix}"

    def find(self, upload: str) -> Path | None:
        """Return where the record of an upload is, None if there is none."""
        paths = (folder / f"{upload}{self._suffix}" for folder in self._owners())
        return next((path for path in paths if path.exists()), None)

    def has_any(self, start: str) -> bool:
        """Return whether an id of an ended upload begins so."""
        return any(path.name.startswith(start) for path in self._all())

    def forget_before(self, moment: datetime) -> int:
        """Delete the records that were written before a time (aware); return how many."""
        old = [path for path in self._all() if path.stat().st_mtime < moment.timestamp()]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)

    def forget_empty(self) -> None:
        """Delete the folders of tokens that have none any more; nobody may write meanwhile."""
        for folder in self._owners():
            with contextlib.suppress(OSError):  # it has some
                folder.rmdir()

    def _all(self) -> Iterator[Path]:
        for folder in self._owners():
            yield from folder.glob(f"*{self._suffix}")

    def _owners(self) -> list[Path]:
        return [*self._folder.iterdir()] if self._folder.exists() else []

    def _forget_oldest(self, folder: Path) -> None:
        found = [entry for entry in os.scandir(folder) if entry.name.endswith(self._suffix)]
        if len(found) >= MOST_OF_TOKEN:
            # Some more, so that this is not done for each.
            by_age = sorted(found, key=lambda entry: entry.stat().st_mtime)
            for entry in by_age[: len(found) - MOST_OF_TOKEN * 9 // 10]:
                os.unlink(entry.path)
