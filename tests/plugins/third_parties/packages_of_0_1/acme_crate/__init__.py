"""A storage in a directory, selected by `fs.adapter = AcmeCrate`: names of storages may have capitals."""

import os
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from frepo_core import plugins
from frepo_core.plugins import hookimpl


class CrateSettings(plugins.StorageSettings):
    """`fs.AcmeCrate.*`, `FS_ACMECRATE_*`."""

    directory: Path = Field(description="Folder for the blobs.")


class Crate(plugins.StorageBackend):
    """Implements the five methods that have no default."""

    def __init__(self, settings):
        self._root = settings.directory
        self._root.mkdir(exist_ok=True)

    def store(self, key, content, size):
        """Write to a partial file, then rename it."""
        path, partial = self._path(key), self._root / plugins.partial_name()
        try:
            with partial.open("wb") as file:
                for chunk in plugins.exactly(content, size, 1 << 20):
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            path.parent.mkdir(exist_ok=True)
            partial.rename(path)
        except OSError as error:
            raise plugins.StorageUnavailable(f"The crate is broken: {error}") from error
        finally:
            partial.unlink(missing_ok=True)

    def open(self, key, start=0, length=None):
        """Open a part of the file."""
        return plugins.Window(self._found(key).open("rb"), start, length)

    def delete(self, key):
        """Delete the file, if there is one."""
        self._path(key).unlink(missing_ok=True)

    def stat(self, key):
        """Return size and time."""
        status = self._found(key).stat()
        return plugins.BlobStat(key=key, size=status.st_size, modified=datetime.fromtimestamp(status.st_mtime, UTC))

    def list(self):
        """Yield all blobs."""
        for path in self._root.rglob("*"):
            if path.is_file() and not plugins.is_partial_path(str(path.relative_to(self._root))):
                yield self.stat(str(path.relative_to(self._root)))

    def _path(self, key):
        if not plugins.is_key(key):
            raise plugins.BlobNotFound(f"No blob {key!r}")
        return self._root / key

    def _found(self, key):
        path = self._path(key)
        if not path.is_file():
            raise plugins.BlobNotFound(f"No blob {key!r}")
        return path


@hookimpl
def frepo_storages():
    """Provide the storage."""
    return [plugins.StorageSpec(name="AcmeCrate", settings=CrateSettings, build=Crate, summary="a crate")]
