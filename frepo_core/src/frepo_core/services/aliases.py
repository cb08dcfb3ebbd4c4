"""Aliases: other names of files, from a YAML file that an operator edits while the service runs."""

import logging
import threading
from collections.abc import Mapping
from pathlib import Path

import yaml

from frepo_core.errors import ConfigurationError

log = logging.getLogger(__name__)

Stamp = tuple[int, int, int]


class Aliases:
    """The map from alias to stored name, read again when its file changes; no file is no alias.

    A broken file at start is a `ConfigurationError`; later it is logged with its line, and the old map is kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._stamp = _stamp(path)
        self._map: Mapping[str, str] = _read(path) if self._stamp else {}

    def resolve(self, name: str) -> str:
        """Return the stored name that the alias stands for; any other name comes back as it is."""
        stamp = _stamp(self._path)
        if stamp != self._stamp:
            self._reread(stamp)
        return self._map.get(name, name)

    def _reread(self, stamp: Stamp | None) -> None:
        with self._lock:
            if stamp == self._stamp:
                return
            self._stamp = stamp
            try:
                self._map = _read(self._path) if stamp else {}
                log.info("%s: %d aliases", self._path, len(self._map))
            except ConfigurationError as error:
                log.error("%s The aliases that were read before stay in use.", error.message)


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read(path: Path) -> dict[str, str]:
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
        if key.value in aliases:
            raise _broken(path, line, f"the alias {key.value!r} is there twice")
        aliases[key.value] = value.value
    return aliases


def _compose(path: Path) -> yaml.Node | None:
    """Parse the file into nodes; nothing is built from them, so texts stay as they are written."""
    try:
        raw = path.read_bytes()
        return yaml.compose(raw.decode(), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _broken(path, line, error.problem or "it is no YAML") from error
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
