"""The content of a version in the trash, for who may restore it and read versions: nothing has to be restored first."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, DeletedCollection, TrashEntry
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.errors import AccessDeniedError, NotFoundError, WrongPasswordError
from frepo_core.plugins import CollectionInfo

from ...access.passwords import NO_READ_ACCESS, Passwords
from ...access.policies.policies import Policies
from ...base.records import CollectionRecord, TrashedFile, collection_info
from ...content.blobs.stored_content import StoredContent
from ..rows.removal import incarnation_of
from .deleted_collections import DeletedCollections, info_of
from .entries import select_with_blobs, trashed_file


class TrashContents:
    """Finds what is downloaded from the trash."""

    def __init__(
        self,
        database: Database,
        stored_content: StoredContent,
        passwords: Passwords,
        policies: Policies,
        deleted: DeletedCollections,
    ) -> None:
        self._database = database
        self._stored_content = stored_content
        self._passwords = passwords
        self._policies = policies
        self._deleted = deleted

    def find(self, collection_id: str, number: int, *, by: Identity, password: str, address: str) -> TrashedFile:
        """Return a version in the trash of a collection that exists.

        Raises `NotFoundError`, `WrongPasswordError`, `PolicyRefusedError` or `PolicyFailedError`, and
        `BytesMissingError` if the bytes are known to be damaged.
        """
        with self._database.reading() as session:
            incarnation = incarnation_of(session.get_one(Collection, collection_id))
        return self._find(incarnation, number, by, password, address)

    def find_deleted(self, name: str, number: int, *, by: Identity, password: str, address: str) -> TrashedFile:
        """Return a version of a deleted collection; `name` is its incarnation or its id. Raises as `find` does.

        Raises `AccessDeniedError`, too, if the token may restore the collection, but not read its versions.
        """
        incarnation = self._deleted.find_incarnation(name, by)
        if not allows("trash.read", by, listed=True):
            raise AccessDeniedError(NO_READ_ACCESS)
        return self._find(incarnation, number, by, password, address)

    def check_policies(self, file: TrashedFile, *, by: Identity) -> None:
        """Ask the policies about the download. Raises `PolicyRefusedError` or `PolicyFailedError`."""
        with self._database.reading() as session:
            info = _info(session, file.incarnation)
        self._policies.check("download", info, by=by, version=file.number, size=file.blob.size)

    def _find(self, incarnation: str, number: int, by: Identity, password: str, address: str) -> TrashedFile:
        with self._database.reading() as session:
            file = _read(session, incarnation, number)
        is_open = allows("file.read_any", by)
        if not is_open and not self._passwords.verify(password, file.password_hash, client=address):
            raise WrongPasswordError(NO_READ_ACCESS)
        self._stored_content.refuse_damaged(file.blob)
        self.check_policies(file, by=by)
        return file


def _info(session: Session, incarnation: str) -> CollectionInfo:
    deleted = session.get(DeletedCollection, incarnation)
    if deleted is not None:
        return info_of(deleted)
    is_it = func.coalesce(Collection.incarnation, Collection.id) == incarnation
    return collection_info(CollectionRecord.of(session.scalars(select(Collection).where(is_it)).one()))


def _read(session: Session, incarnation: str, number: int) -> TrashedFile:
    query = select_with_blobs().where(TrashEntry.incarnation == incarnation, TrashEntry.number == number)
    row = session.scalar(query.order_by(TrashEntry.id.desc()).limit(1))
    if row is None:
        raise NotFoundError(f"The version {number} is not in the trash of the collection")
    return trashed_file(row)
