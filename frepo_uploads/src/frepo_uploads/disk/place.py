"""The folder for the parts of open uploads, and which host it belongs to."""

import contextlib
import os
import re
import shutil
import socket
import uuid
from functools import cached_property
from pathlib import Path

from frepo_core.plugins import ConfigurationError

from .part_file import make_folder, sync_folder

MARK = ".frepo-uploads"
_MOUNTS = Path("/proc/self/mountinfo")
_LOST_AT_A_RESTART = frozenset({"tmpfs", "ramfs"})
_MAX_TAG = 24
_ESCAPED = re.compile(r"\\([0-7]{3})")


class Place:
    """The folder. It is made when it is used first, with a file that names it.

    An upload remembers this name, not that of the host: hosts that share the folder serve each other's uploads.
    """

    def __init__(self, folder: Path, *, tag: str, storage: Path | None = None) -> None:
        """`storage` is the folder of the stored files, if it is on this host; `tag` is the setting `uploads.host`."""
        self._folder = folder.absolute()
        self._storage = storage
        self.tag = tag or host_tag(socket.gethostname())

    @cached_property
    def folder(self) -> Path:
        """The folder, which exists. Raises `ConfigurationError` if it cannot be used."""
        try:
            make_folder(self._folder)
            if file_system(self._folder) in _LOST_AT_A_RESTART and not self._is_with_storage():
                raise ConfigurationError(
                    f"uploads.directory (UPLOADS_DIRECTORY): {self._folder} is in the memory of this host (tmpfs), and "
                    "open uploads would be lost at a restart; choose a folder on a disk"
                )
            if not os.access(self._folder, os.R_OK | os.W_OK | os.X_OK):
                raise ConfigurationError(
                    f"uploads.directory (UPLOADS_DIRECTORY): the service may not write to {self._folder}"
                )
        except OSError as error:
            raise ConfigurationError(
                f"uploads.directory (UPLOADS_DIRECTORY): {self._folder} cannot be used: {error.strerror}"
            ) from error
        return self._folder

    @cached_property
    def id(self) -> str:
        """What the file in the folder says. Another folder has another id."""
        mark, own = self.folder / MARK, self.folder / f"{MARK}-{uuid.uuid4().hex}"
        with contextlib.suppress(FileNotFoundError):
            return _read(mark)
        with own.open("w") as file:
            file.write(f"{uuid.uuid4().hex}\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.link(own, mark)
        own.unlink()
        sync_folder(self.folder)
        return _read(mark)

    def free(self) -> int:
        """Return the free bytes of its disk."""
        return shutil.disk_usage(self.folder).free

    def new_id(self) -> str:
        """Return the id of a new upload."""
        return f"{self.tag}-{uuid.uuid4().hex}"

    def _is_with_storage(self) -> bool:
        """Whether the stored files would be lost with it. Their folder may not exist before the first file."""
        if self._storage is None:
            return False
        above = next(path for path in (self._storage, *self._storage.absolute().parents) if path.exists())
        return above.stat().st_dev == self._folder.stat().st_dev


def default_folder(storage: Path | None, state: Path) -> Path:
    """Return the folder next to that of the stored files; if they are not on this host, one in the state's."""
    return (storage.parent if storage else state) / "uploads"


def host_tag(name: str) -> str:
    """Return what a host's name gives for the beginning of ids: lower-case letters and digits."""
    return re.sub("[^a-z0-9]", "", name.lower().partition(".")[0])[:_MAX_TAG] or "host"


def tag_of(upload: str) -> str:
    """Return the tag of the host that made an id."""
    return upload.rpartition("-")[0]


def file_system(folder: Path) -> str:
    """Return the type of the file system of a folder, such as `ext4`; an empty text if it is unknown."""
    try:
        lines = _MOUNTS.read_text().splitlines()
    except OSError:
        return ""
    real, found, kind = os.path.realpath(folder), "", ""
    for line in lines:
        # 36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw (proc(5), mountinfo)
        mount = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), line.split()[4])
        is_above = mount in ("/", real) or real.startswith(f"{mount}/")
        if is_above and len(mount) >= len(found):
            found, kind = mount, line.partition(" - ")[2].split()[0]
    return kind


def _read(mark: Path) -> str:
    return mark.read_text().strip()
