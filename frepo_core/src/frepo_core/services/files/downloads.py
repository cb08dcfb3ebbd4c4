"""The use cases of downloads: which file a name means, and who may read it."""

import logging
from collections.abc import Hashable
from dataclasses import field

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import CollectionToken, Version
from frepo_core.domain.identity import Actor, Identity
from frepo_core.domain.permissions import allows
from frepo_core.domain.structs import struct
from frepo_core.errors import AccessDeniedError, NotFoundError, WrongPasswordError
from frepo_core.settings import Settings

from ..access.passwords import NO_READ_ACCESS, Passwords
from ..access.policies.policies import Policies
from ..access.signed_links import SignedLinks
from ..access.tokens import NO_ACCESS
from ..base.records import FileRecord
from ..content.blobs.rereading import Rereading
from ..content.blobs.stored_content import StoredContent
from ..content.storages.backends import Backends
from .aliases import Aliases, find_stored
from .files import Files

log = logging.getLogger(__name__)


@struct
class DownloadCredentials:
    """What a client presents to read a file: a token, a password, the query of a signed link, and its address."""

    identity: Identity | None = None
    address: str = ""
    password: str = field(default="", repr=False)
    expires: str = ""
    signature: str = field(default="", repr=False)


class Downloads:
    """Finds files for readers."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        files: Files,
        backends: Backends,
        stored_content: StoredContent,
        passwords: Passwords,
        links: SignedLinks,
        policies: Policies,
        aliases: Aliases,
    ) -> None:
        self._database = database
        self._files = files
        self._stored_content = stored_content
        self._rereading = Rereading(database, backends, rate=settings.jobs_verify_rate, is_read_only=settings.read_only)
        self._passwords = passwords
        self._links = links
        self._policies = policies
        self._aliases = aliases
        self._requires_token = settings.anti_hotlink_protection_enabled and settings.anti_hotlink_restrict_regular_urls

    def is_unrestricted(self, file: FileRecord) -> bool:
        """Return whether everybody may read the file, so that shared caches may store it."""
        return not (file.is_version or file.password_hash is not None or self._requires_token)

    def find(self, name: str, credentials: DownloadCredentials, *, checked: bool = False) -> FileRecord:
        """Return the file with this stored name or alias, if the credentials allow reading it.

        `checked` says that the request came by a protected URL, whose access token was valid.
        Raises `NotFoundError`, `AccessDeniedError`, `PolicyRefusedError` or `PolicyFailedError` for a version that a
        policy does not allow to download, and `BytesMissingError` if the bytes are known to be damaged: those
        are never sent. They are read again first.
        """
        file = self._find(name, credentials, checked=checked)
        if not self._stored_content.has_sound_copy(file.blob):
            if self._rereading.heals(file.blob.id):
                file = self._find(name, credentials, checked=checked)
            self._stored_content.refuse_damaged(file.blob)
        by = credentials.identity or Actor(name="anonymous", address=credentials.address)
        self._policies.check_download(file, by=by)
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
            target = find_stored(self._database, name) if resolved == name else None
            if target is None:
                raise
        return self._files.find_for_download(target)

    def version(self) -> Hashable | None:
        """Return a value that changes whenever a name may stand for another file or a file may change; None if unknown.

        Only SQLite tells whether another process has changed something.
        """
        version = self._database.version()
        return None if version is None else (version, self._aliases.version())

    def _is_signed(self, file: FileRecord, credentials: DownloadCredentials, *, unlocked: bool) -> bool:
        return bool(credentials.signature) and self._links.is_valid(
            file, credentials.expires, credentials.signature, unlocked=unlocked
        )

    def _may_list(self, file: FileRecord, identity: Identity | None) -> bool:
        """Return whether the token may list the versions of the file's collection."""
        if identity is None:
            return False
        with self._database.reading() as session:
            return allows("version.list", identity, listed=_is_listed(session, file.id, identity.token))


def _is_listed(session: Session, file_id: int, token: str) -> bool:
    query = (
        select(CollectionToken.token_key)
        .join(Version, Version.collection_id == CollectionToken.collection_id)
        .where(Version.file_id == file_id, CollectionToken.token_key == token)
    )
    return session.scalar(query) is not None
