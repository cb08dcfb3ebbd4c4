"""The use cases of downloads: check who may read a file, and read its bytes."""

import contextlib
import logging
import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Blob, CollectionToken, Version
from frepo_core.domain.access import allows
from frepo_core.domain.identity import Identity
from frepo_core.domain.signatures import LINK_SECONDS
from frepo_core.errors import AccessDeniedError, BlobNotFound, BytesMissingError, NotFoundError, WrongPasswordError
from frepo_core.plugins import StorageBackend
from frepo_core.settings import Settings

from ..access.passwords import NO_READ_ACCESS, Passwords
from ..access.signed_links import SignedLinks
from ..access.tokens import NO_ACCESS
from ..base.records import BlobRecord, FileRecord
from ..content.blobs.rereading import Rereading
from ..content.content_cache import ContentCache
from ..content.read_ahead import PIECE, ReadAhead
from ..content.storages.backends import Backends
from ..content.storages.storage_identity import Presence
from ..content.verified_reader import VerifiedContent, VerifiedFile, verify
from .aliases import Aliases
from .file_rows import FILE_NOT_FOUND
from .files import Files
from .stored_aliases import StoredAliases

log = logging.getLogger(__name__)

Result = TypeVar("Result")

BYTES_MISSING = "The bytes of this file are missing in the storage"


@dataclass(frozen=True, kw_only=True)
class DownloadCredentials:
    """What a client presents to read a file: a token, a password, the query of a signed link, and its address."""

    identity: Identity | None = None
    address: str = ""
    password: str = field(default="", repr=False)
    expires: str = ""
    signature: str = field(default="", repr=False)


class Downloads:
    """Finds files for readers and opens their bytes."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        files: Files,
        backends: Backends,
        presence: Presence,
        passwords: Passwords,
        links: SignedLinks,
        aliases: Aliases,
        stored_aliases: StoredAliases,
    ) -> None:
        self._database = database
        self._files = files
        self._backends = backends
        self._presence = presence
        self._rereading = Rereading(database, backends, rate=settings.jobs_verify_rate, is_read_only=settings.read_only)
        self._passwords = passwords
        self._links = links
        self._aliases = aliases
        self._stored_aliases = stored_aliases
        self._cache = ContentCache(settings.fs_cache_size)
        self._requires_token = settings.anti_hotlink_protection_enabled and settings.anti_hotlink_restrict_regular_urls

    def is_unrestricted(self, file: FileRecord) -> bool:
        """Return whether everybody may read the file, so that shared caches may store it."""
        return not (file.is_version or file.password_hash is not None or self._requires_token)

    def find(self, name: str, credentials: DownloadCredentials, *, checked: bool = False) -> FileRecord:
        """Return the file with this stored name or alias, if the credentials allow reading it.

        `checked` says that the request came by a protected URL, whose access token was valid.
        Raises `NotFoundError`, `AccessDeniedError`, and `BytesMissingError` if the bytes are known to be damaged: those
        are never sent. They are read again first.
        """
        file = self._find(name, credentials, checked=checked)
        if file.blob.is_damaged and self._rereading.heals(file.blob.id):
            file = self._find(name, credentials, checked=checked)
        refuse_damaged(file.blob)
        return file

    def _find(self, name: str, credentials: DownloadCredentials, *, checked: bool) -> FileRecord:
        if self._requires_token and not (checked or credentials.identity or credentials.signature):
            raise AccessDeniedError(NO_ACCESS)
        file = self._find_named(name)
        if credentials.identity and allows("file.read_any", credentials.identity):
            return file
        unlocked = self._is_signed(file, credentials, unlocked=True)
        signed = unlocked or self._is_signed(file, credentials, unlocked=False)
        if file.is_version and not (signed or self._may_list(file, credentials.identity)):
            raise AccessDeniedError(NO_READ_ACCESS)
        if self._requires_token and not (checked or credentials.identity or signed):
            raise AccessDeniedError(NO_READ_ACCESS)
        if not unlocked and not self._passwords.verify(
            credentials.password, file.password_hash, client=credentials.address
        ):
            raise WrongPasswordError(NO_READ_ACCESS)
        return file

    def _find_named(self, name: str) -> FileRecord:
        """Return the file of an alias of the YAML file, else the one with this name, else that of a stored alias.

        The database is asked about aliases only for a name that no file has: other downloads cost no more.
        """
        resolved = self._aliases.resolve(name)
        try:
            return self._files.find_for_download(resolved)
        except NotFoundError:
            target = self._stored_aliases.find(name) if resolved == name else None
            if target is None:
                raise
        return self._files.find_for_download(target)

    def read(self, blob: BlobRecord, start: int, length: int) -> bytes:
        """Return `length` bytes of a blob from `start`, for small answers. A whole blob is verified and cached.

        Raises the same errors as `open`.
        """
        if (cached := self._cache.get(blob.digest)) is not None:
            return cached[start : start + length]
        is_whole = length == blob.size

        def read(backend: StorageBackend, key: str) -> bytes:
            with backend.open(key, start, None if is_whole else length) as content:
                data = content.read(length)
                while len(data) < length and (more := content.read(length - len(data))):
                    data += more
            if len(data) < length:
                raise BlobNotFound(f"The blob {key!r} ends before its byte {start + length}")
            return data

        data = self._with_location(blob, read)
        if is_whole:
            verify(data, blob)
            self._cache.add(blob.digest, data)
        return data

    def version(self) -> Hashable | None:
        """Return a value that changes whenever a name may stand for another file or a file may change; None if unknown.

        Only SQLite tells whether another process has changed something.
        """
        version = self._database.version()
        return None if version is None else (version, self._aliases.version())

    def cached(self, digest: str) -> bytes | None:
        """Return a whole small content that was verified and is still in memory, or None."""
        return self._cache.get(digest)

    def open(self, blob: BlobRecord, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open `length` bytes of a blob from `start`; the caller closes the stream. A whole blob is verified.

        Raises `BytesMissingError` if the bytes are missing, which is logged as critical, `StorageUnavailable` if they
        are because the storage is not the one it was, and `NotFoundError` if the blob's row was deleted meanwhile as
        well.
        """
        content = self._with_location(blob, lambda backend, key: backend.open(key, start, length))
        if (blob.size - start if length is None else length) > PIECE:
            content = cast(BinaryIO, ReadAhead(content))
        if start == 0 and length in {None, blob.size}:
            return cast(BinaryIO, VerifiedContent(content, blob))
        return content

    def open_file(self, blob: BlobRecord, start: int = 0, length: int | None = None) -> BinaryIO | None:
        """Open the local file of the blob at `start`, or return None if the backend has no local file.

        The server can send such a file without a thread. A whole blob is verified on the way. Raises the same errors as
        `open`. A file of a wrong size counts as missing: the server would send the existing bytes as a complete answer.
        """

        def open_file(backend: StorageBackend, key: str) -> BinaryIO | None:
            if backend.path(key) is None:
                return None
            file = backend.open(key)
            if file.seek(0, os.SEEK_END) != blob.size:
                file.close()
                raise _wrong_size(blob, key)
            file.seek(start)
            return file

        file = self._with_location(blob, open_file)
        if file and start == 0 and length in {None, blob.size}:
            return cast(BinaryIO, VerifiedFile(file, blob))
        return file

    def path(self, blob: BlobRecord) -> Path | None:
        """Return the path of the blob's local file, or None if the backend has none. Raises as `open_file` does."""

        def path(backend: StorageBackend, key: str) -> Path | None:
            found = backend.path(key)
            if found is not None:
                with contextlib.suppress(FileNotFoundError):  # deleted in this moment
                    if found.stat().st_size == blob.size:
                        return found
                raise _wrong_size(blob, key)
            return None

        return self._with_location(blob, path)

    def url(self, blob: BlobRecord, *, filename: str, content_type: str) -> str | None:
        """Return a URL of the backend's own server, valid for ten minutes, or None if the backend has none."""
        backend = self._backends.get(blob.storage)
        return backend.url(blob.key, expires=LINK_SECONDS, filename=filename, content_type=content_type)

    def _with_location(self, blob: BlobRecord, use: Callable[[StorageBackend, str], Result]) -> Result:
        """Call `use` with the blob's backend and key; again if the blob was moved or stored again meanwhile."""
        storage, key = blob.storage, blob.key
        while True:
            try:
                return use(self._backends.get(storage), key)
            except BlobNotFound as error:
                with self._database.reading() as session:
                    query = select(Blob.storage, Blob.key).where(Blob.id == blob.id)
                    row = session.execute(query).one_or_none()
                if row is None:
                    raise NotFoundError(FILE_NOT_FOUND) from error
                if row.key == key:
                    self._presence.look_for_mark(storage)
                    log.critical("the bytes of blob %s (%s, key %s) are missing", blob.id, storage, key)
                    raise BytesMissingError(BYTES_MISSING) from error
                storage, key = row.storage, row.key

    def _is_signed(self, file: FileRecord, credentials: DownloadCredentials, *, unlocked: bool) -> bool:
        return bool(credentials.signature) and self._links.is_valid(
            file.stored_name, credentials.expires, credentials.signature, unlocked=unlocked
        )

    def _may_list(self, file: FileRecord, identity: Identity | None) -> bool:
        """Return whether the token may list the versions of the file's collection."""
        if identity is None:
            return False
        with self._database.reading() as session:
            return allows("version.list", identity, listed=_is_listed(session, file.id, identity.token))


def refuse_damaged(blob: BlobRecord) -> None:
    """Raise `BytesMissingError` if the bytes are known to be damaged, and log it as critical."""
    if blob.is_damaged:
        log.critical("the bytes of blob %s (%s, key %s) are damaged", blob.id, blob.storage, blob.key)
        raise BytesMissingError("The bytes of this file are damaged in the storage")


def _wrong_size(blob: BlobRecord, key: str) -> BlobNotFound:
    return BlobNotFound(f"The file of {key!r} does not have {blob.size} bytes")


def _is_listed(session: Session, file_id: int, token: str) -> bool:
    query = (
        select(CollectionToken.token_key)
        .join(Version, Version.collection_id == CollectionToken.collection_id)
        .where(Version.file_id == file_id, CollectionToken.token_key == token)
    )
    return session.scalar(query) is not None
