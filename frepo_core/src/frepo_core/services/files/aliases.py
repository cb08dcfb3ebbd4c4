"""Aliases: alternative names of files, from a YAML file that an operator may edit while the service runs."""

import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from unicodedata import normalize

from frepo_core.errors import ConfigurationError

log = logging.getLogger(__name__)

Stamp = tuple[int, int, int]

CHECK_SECONDS = 0.5


class Aliases:
    """The map from alias to stored name, read again when its file changes. Without a file there are no aliases.

    The file's time is checked at most every `check_seconds`: a check for each download would make them a tenth slower.
    A broken file raises `ConfigurationError` at start. Later it is logged, and the aliases read before stay in use.
    """

    def __init__(self, path: Path, check_seconds: float = CHECK_SECONDS) -> None:
        self._path = path
        self._check_seconds = check_seconds
        self._next_check = 0.0
        self._lock = threading.Lock()
        self._stamp = _stamp(path)
        self._map: Mapping[str, str] = _read(path) if self._stamp else {}

    def resolve(self, name: str) -> str:
        """Return the stored name of an alias, or the name itself if it is not an alias."""
        self._check()
        found = self._map.get(name)
        if found is None and not name.isascii():
            found = self._map.get(normalize("NFC", name))
        return name if found is None else found

    def read_all(self) -> Mapping[str, str]:
        """Return the stored names of all aliases, by alias in NFC."""
        self._check()
        return self._map

    def version(self) -> Stamp | None:
        """Return a value that changes with the file, None without a file."""
        self._check()
        return self._stamp

    def _check(self) -> None:
        now = time.monotonic()
        if now >= self._next_check:
            self._next_check = now + self._check_seconds
            self._reload_if_changed()

    def _reload_if_changed(self) -> None:
        with self._lock:
            stamp = _stamp(self._path)
            if stamp == self._stamp:
                return
            try:
                self._map = _read(self._path) if stamp else {}
                log.info("%s: %d aliases", self._path, len(self._map))
            except ConfigurationError as error:
                log.error("%s The aliases that were read before stay in use.", error.message)
            finally:  # after the aliases: what is answered until then must not count as new
                self._stamp = stamp


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read(path: Path) -> dict[str, str]:
    # Most installations have no aliases and need not import yaml.
    from .alias_file import read_aliases

    return read_aliases(path)
