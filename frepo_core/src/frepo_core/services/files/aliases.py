"""Aliases: alternative names of files, from a YAML file that an operator may edit at any time, and in the database."""

import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from sqlalchemy import bindparam, select

from frepo_core.db import Database
from frepo_core.db.models import Alias
from frepo_core.errors import ConfigurationError

if TYPE_CHECKING:
    import yaml

log = logging.getLogger(__name__)

Stamp = tuple[int, int, int]

CHECK_SECONDS = 0.5
_TARGET = select(Alias.file).where(Alias.name == bindparam("name"))


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
    return read_aliases(path)


def read_aliases(path: Path) -> dict[str, str]:
    """Return the stored names under their aliases in NFC. Raises `ConfigurationError` with the line of the error."""
    import yaml  # most installations have no aliases

    root = _compose(path)
    if root is None or root.tag == "tag:yaml.org,2002:null":
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise _broken(path, root.start_mark.line + 1, "a map `alias: stored name` is expected")
    aliases: dict[str, str] = {}
    for key, value in root.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or not isinstance(value, yaml.ScalarNode) or not value.value:
            raise _broken(path, line, "each line is `alias: stored name`")
        alias = normalize("NFC", key.value)
        if alias in aliases:
            raise _broken(path, line, f"the alias {alias!r} is defined twice")
        aliases[alias] = value.value
    return aliases


def _compose(path: Path) -> "yaml.Node | None":
    import yaml

    """Parse the file into nodes without converting values, so texts such as `no` stay texts."""
    try:
        raw = path.read_bytes()
        return yaml.compose(raw.decode(), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _broken(path, line, error.problem or "it is not valid YAML") from error
    except yaml.reader.ReaderError as error:
        line = raw.decode().count("\n", 0, error.position) + 1
        raise _broken(path, line, error.reason) from error
    except UnicodeDecodeError as error:
        raise _broken(path, raw.count(b"\n", 0, error.start) + 1, "it is not UTF-8") from error
    except RecursionError as error:
        raise _broken(path, 1, "it is nested too deeply") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise _broken(path, 1, str(error)) from error


def _broken(path: Path, line: int, problem: str) -> ConfigurationError:
    return ConfigurationError(f"ids_mapping.file (IDS_MAPPING_FILE): {path}, line {line}: {problem}.")


def find_stored(database: Database, name: str) -> str | None:
    """Return the stored name of an alias in the database. It is read each time: other processes change it, too."""
    if "\0" in name:
        return None
    rows = database.fetch_rows(_TARGET, name=normalize("NFC", name))
    return str(rows[0][0]) if rows else None
