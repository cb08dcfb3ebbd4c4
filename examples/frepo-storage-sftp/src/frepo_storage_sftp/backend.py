"""Blobs as files in a folder of an SFTP server: written under another name, checked, synced, renamed."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import BufferedReader
from threading import RLock
from typing import Any, BinaryIO, cast
from urllib.parse import quote, unquote

from paramiko import SSHClient, SSHException
from paramiko.sftp import CMD_EXTENDED

from frepo_core import plugins

from .settings import SftpSettings

ERRORS = (OSError, EOFError, SSHException)
CHUNK = 1 << 20  # bytes for which a thread keeps the others waiting


class SftpStorage(plugins.StorageBackend):
    """One file for each blob, named like its key, percent-encoded. One session serves all threads in turn."""

    def __init__(self, settings: SftpSettings) -> None:
        self._settings, self._lock, self._connected = settings, RLock(), cast(Any, None)

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Write to a partial file, check its size, sync it, rename it, sync the folder."""
        name, partial = _name(key), plugins.partial_name()
        try:
            with self._session() as session:
                file = session.open(partial, "wb")
            for chunk in plugins.exactly(content, size, CHUNK):  # outside: exceptions of the content are not translated
                with self._session():
                    file.set_pipelined(True)  # requests without waiting for each answer
                    file.write(chunk[:-1])
                    file.set_pipelined(False)  # now paramiko waits for all answers
                    file.write(chunk[-1:])
            with self._session() as session:
                if session.stat(partial).st_size != size:
                    raise plugins.StorageUnavailable(f"The SFTP server did not store {size} bytes for {key!r}")
                _sync(file)
                file.close()
                session.posix_rename(partial, name)
                with session.open(".") as folder:
                    _sync(folder)
        except BaseException:
            with suppress(plugins.StorageError), self._session() as session:
                session.remove(partial)
            raise

    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open the file; its reader takes its turn for each chunk."""
        with self._session(key) as session:
            file = session.open(_name(key))
            span = range(file.stat().st_size)[start:][:length]

        def read(offset: int, size: int) -> bytes:
            with self._session(key):
                file.seek(span.start + offset)
                return bytes(file.read(min(size, CHUNK)))

        def close() -> None:
            with self._lock:
                file.close()

        return BufferedReader(plugins.ExactReader(read, len(span), close), CHUNK)

    def delete(self, key: str) -> None:
        """Remove the file."""
        with suppress(plugins.BlobNotFound), self._session(key) as session:
            session.remove(_name(key))

    def stat(self, key: str) -> plugins.BlobStat:
        """Ask for the file's attributes."""
        with self._session(key) as session:
            return _describe(key, session.stat(_name(key)))

    def list(self) -> Iterator[plugins.BlobStat]:
        """List the folder in parts, in a separate session."""
        with _translated():
            for found in _connect(self._settings).listdir_iter("."):
                if plugins.is_key(key := unquote(found.filename)):
                    yield _describe(key, found)

    @contextmanager
    def _session(self, key: str = "") -> Iterator[Any]:
        """Lend the session; one that the server has closed is replaced."""
        with self._lock, _translated():
            try:
                self._connected.stat(".")
            except (AttributeError, *ERRORS):
                self._connected = _connect(self._settings)
            with _translated(key):
                yield self._connected


def _connect(settings: SftpSettings) -> Any:
    """Open a session in the folder of the blobs, on a server whose key is known."""
    ssh = SSHClient()
    ssh.load_host_keys(str(settings.known_hosts))
    ssh.connect(
        settings.host,
        settings.port,
        settings.user,
        settings.password.get_secret_value(),
        key_filename=[str(settings.key_file)] if settings.key_file else [],
        timeout=settings.timeout,
        channel_timeout=settings.timeout,
        allow_agent=False,
        look_for_keys=False,
    )
    session = ssh.open_sftp()
    session.get_channel().settimeout(settings.timeout)
    session.chdir(settings.directory)
    session.client = ssh  # a reference, so that it is not closed
    return session


def _sync(file: Any) -> None:
    """Make a file or a folder durable, by an extension of OpenSSH that paramiko does not know."""
    file.sftp._request(CMD_EXTENDED, "fsync@openssh.com", file.handle)


@contextmanager
def _translated(key: str = "") -> Iterator[None]:
    """Translate errors of the driver. Without a key, a missing file is the folder of the storage."""
    try:
        yield
    except ERRORS as error:
        if key and isinstance(error, FileNotFoundError):
            raise plugins.BlobNotFound(f"No blob {key!r} on the SFTP server") from error
        if not key and str(error) == "Failure":  # SFTP has no other error for a full disk
            raise plugins.StorageFull("The SFTP server cannot write; its disk may be full") from error
        raise plugins.StorageUnavailable(f"The SFTP server or its folder cannot be used: {error}") from error


def _name(key: str) -> str:
    if not plugins.is_key(key):
        raise plugins.BlobNotFound(f"{key!r} is not a key")
    return quote(key, safe="")


def _describe(key: str, found: Any) -> plugins.BlobStat:
    return plugins.BlobStat(key=key, size=found.st_size, modified=datetime.fromtimestamp(found.st_mtime, UTC))
