"""The backend `local`: writes each blob to a temporary file, syncs it and renames it. No key leads out of the root."""

import contextlib
import errno
import io
import os
import re
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast

from frepo_core.plugins import (
    PARTIAL,
    BlobNotFound,
    BlobStat,
    ConfigurationError,
    StorageBackend,
    StorageFull,
    Window,
    exactly,
    is_key,
    is_partial_path,
    partial_name,
)
from frepo_core.plugins import StorageUnavailable as Unavailable

from .linking import file_of, link
from .modes import set_mode
from .settings import LocalSettings

_BLOB_FOLDER = re.compile("[0-9a-f]{2}|journal|catalogue")  # the first part of each key that frepo makes
ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class LocalStorage(StorageBackend):
    """Stores each blob as a file whose path below the root is the blob's key.

    A blob is durable when `store` returns: the file and its folder are synced. After a crash, a file whose name starts
    with `.partial-` may remain; `list` skips it and `tidy` deletes it.
    """

    def __init__(self, settings: LocalSettings) -> None:
        self._settings = settings
        self.root = self._root = settings.directory.absolute()
        self._root_path = str(self._root)
        if not self._root.is_dir() and (self._root.exists() or not settings.lazy_root):
            raise ConfigurationError(
                f"fs.local.directory (FS_LOCAL_DIRECTORY): {self._root} is not a directory"
                + ("" if self._root.exists() else ", and fs.local.lazy_root is off")
            )

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Write the blob to a temporary file in the same folder, sync it, rename it and sync the folder."""
        target = self._locate(key)
        if self._link(Path(target), content, size):
            return
        folder = os.path.dirname(target)
        partial = f"{folder}/{partial_name()}"
        with _translated(key):
            descriptor = self._create(partial)
        try:
            with open(descriptor, "wb", buffering=0) as file:
                for chunk in exactly(content, size):
                    with _translated(key):
                        _write(file, chunk)
                with _translated(key):
                    set_mode(descriptor, self._settings.file_permissions)
                    os.fsync(descriptor)
            with _translated(key):
                os.rename(partial, target)
                _sync_folder(folder)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(partial)
            raise

    def _link(self, target: Path, content: BinaryIO, size: int) -> bool:
        """Link the content into place if it is an unnamed file on the same disk, or a `SessionFile`.

        Return whether that worked. No byte is copied then.
        """
        descriptor = file_of(content, size)
        if descriptor is None:
            return False
        with _translated(target.name):
            self._make_folder(target.parent)
            if not link(content, descriptor, target, self._settings.file_permissions):
                return False
            _sync_folder(target.parent)
        return True

    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open the file, or a window on it."""
        path = self._below_root(key)
        with _translated(key):
            try:
                file = io.FileIO(path, opener=_open_no_link)
            except OSError:
                self._require_root()
                raise
            if start == 0 and length is None:
                return cast(BinaryIO, file)
            return cast(BinaryIO, Window(cast(BinaryIO, file), start, length))

    def delete(self, key: str) -> None:
        """Delete the file, and its folder if it is empty then."""
        path = Path(self._locate(key))
        with _translated(key), contextlib.suppress(*ABSENT):
            path.unlink()
            if path.parent != self._root:
                with contextlib.suppress(OSError):
                    path.parent.rmdir()

    def stat(self, key: str) -> BlobStat:
        """Return the file's size and time."""
        return self._stat(key)[1]

    def list(self) -> Iterator[BlobStat]:
        """Yield the blobs, one folder at a time. Temporary files are skipped."""
        self._require_root()
        with _translated(str(self._root)):
            for folder, folders, names in os.walk(self._root, onerror=self._folder_failed):
                for name in folders:
                    self._is_skipped_link(Path(folder, name))  # os.walk does not follow it, but it may be refused
                for name in sorted(names):
                    path = Path(folder, name)
                    if name.startswith(PARTIAL) or self._is_skipped_link(path):
                        continue
                    with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                        yield _describe(path.relative_to(self._root).as_posix(), path.lstat())

    def tidy(self, before: datetime) -> int:
        """Delete the `.partial-` files of uploads that crashed before this time. Foreign files stay."""
        removed = 0
        self._require_root()
        with _translated(str(self._root)):
            for folder, _, names in os.walk(self._root, onerror=self._folder_failed):
                for partial in (Path(folder, name) for name in names if name.startswith(PARTIAL)):
                    if not is_partial_path(partial.relative_to(self._root).as_posix()):
                        continue
                    with contextlib.suppress(FileNotFoundError):
                        if datetime.fromtimestamp(partial.lstat().st_mtime, UTC) < before:
                            partial.unlink()
                            removed += 1
        return removed

    def path(self, key: str) -> Path:
        """Return the path of the file."""
        return Path(self._stat(key)[0])

    def free_space(self) -> int | None:
        """Return the free bytes of the file system; None if the root folder does not exist yet."""
        found = self._file_system()
        return None if found is None else found.f_bavail * found.f_frsize

    def total_space(self) -> int | None:
        """Return the size of the file system without what is reserved for root, as `df` does; None as above."""
        found = self._file_system()
        return None if found is None else (found.f_blocks - found.f_bfree + found.f_bavail) * found.f_frsize

    def _file_system(self) -> os.statvfs_result | None:
        try:
            return os.statvfs(self._root)
        except FileNotFoundError:
            return None

    def _locate(self, key: str) -> str:
        """Return the path of a key. Raises `BlobNotFound` if it would lead out of the root or through a link."""
        self._require_root()
        path = self._below_root(key)
        _refuse_link(key, path)
        return path

    def _stat(self, key: str) -> tuple[str, BlobStat]:
        """Return the path of a blob, its size and its time."""
        self._require_root()
        path = self._below_root(key)
        with _translated(key):
            status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise _is_link(key, path) if stat.S_ISLNK(status.st_mode) else BlobNotFound(f"{path} is no file")
        with _translated(key):
            return path, _describe(key, status)

    def _below_root(self, key: str) -> str:
        """Return the path of a key, whose last part may be a link. Raises `BlobNotFound` if a folder is a link."""
        if not is_key(key):
            raise BlobNotFound(f"{key!r} is not a key")
        *folders, name = key.split("/")
        path = self._root_path
        for folder in folders:
            path = f"{path}/{folder}"
            _refuse_link(key, path)
        return f"{path}/{name}"

    def _require_root(self) -> None:
        """Raise `StorageUnavailable` if the root is missing, for example because a disk is not mounted.

        Otherwise all blobs would seem to be deleted. With `lazy_root` the root may be missing, but it must not be a
        broken link or a file.
        """
        root = self._root_path
        if self._settings.lazy_root and (os.path.isdir(root) or not os.path.lexists(root)):
            return
        try:
            os.scandir(root).close()
        except OSError as error:
            raise Unavailable(f"The root of the local storage is missing: {error}") from error

    def _folder_failed(self, error: OSError) -> None:
        """Ignore a folder that was deleted during the walk, and a foreign one without permission, such as `lost+found`.

        An unreadable folder of blobs must not look like an empty one, so it raises.
        """
        folder = Path(error.filename).relative_to(self._root).parts[:1]
        is_foreign = folder and not _BLOB_FOLDER.fullmatch(folder[0])
        if not isinstance(error, FileNotFoundError) and not (is_foreign and isinstance(error, PermissionError)):
            raise error

    def _is_skipped_link(self, path: Path) -> bool:
        if not path.is_symlink():
            return False
        if self._settings.links == "refuse":
            raise Unavailable(f"{path} is a symbolic link; remove it, or set fs.local.links = skip")
        return True

    def _create(self, partial: str) -> int:
        """Create the file, and its folder if missing. Try again if a concurrent `delete` removes the empty folder."""
        for _ in range(100):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                return os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, self._settings.file_permissions)
            with contextlib.suppress(FileNotFoundError):
                self._make_folder(Path(partial).parent)
        raise Unavailable(f"The folder of {partial} was deleted each time after it was made")

    def _make_folder(self, folder: Path) -> None:
        """Make missing folders and sync their parents, so that a power failure cannot lose a blob's folder."""
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=self._settings.directory_permissions)
            set_mode(folder, self._settings.directory_permissions)  # whatever the umask is
            _sync_folder(folder.parent)
        if folder.is_file():
            raise Unavailable(f"{folder} is not a directory")


def _write(file: BinaryIO, chunk: bytes) -> None:
    """Write the whole chunk: an unbuffered file may write less in one call."""
    view = memoryview(chunk)
    while view:
        view = view[file.write(view) :]


def _sync_folder(folder: Path | str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _describe(key: str, status: os.stat_result) -> BlobStat:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), key)
    return BlobStat(key=key, size=status.st_size, modified=datetime.fromtimestamp(status.st_mtime, UTC))


def _open_no_link(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)  # opening a named pipe would block otherwise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(errno.ENOENT, "it is no file", path)
    return descriptor


def _refuse_link(key: str, path: str) -> None:
    if os.path.islink(path):
        raise _is_link(key, path)


def _is_link(key: str, path: str) -> BlobNotFound:
    return BlobNotFound(f"{key!r} leads through the symbolic link {path}, which is not followed")


@contextlib.contextmanager
def _translated(what: str) -> Iterator[None]:
    """Raise an `OSError` as one of the contract's errors."""
    try:
        yield
    except ABSENT as error:
        raise BlobNotFound(f"No blob {what!r} in the local storage") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BlobNotFound(f"{what!r} is a symbolic link, which is not followed") from error
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise StorageFull("The local storage has no room left") from error
        raise Unavailable(f"The local storage failed: {error}") from error
