"""Registers what a storage has and no record names: a key has the digest of its content, a head says the rest."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, BinaryIO

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Content, StoredObject
from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError
from frepo_core.plugins import BlobStat

from ..encodings import Form
from ..seekable_content import seekable_content
from ..storages.backends import Backends
from ..verified_reader import digest_of
from .states import COPY, FIRST, RAW, UNKNOWN, ObjectState

log = logging.getLogger(__name__)

_MIME = "application/octet-stream"


@struct
class StoredBlob:
    """Where bytes are: the storage, the key in it, and their size."""

    storage: str
    key: str
    size: int


@struct
class _Form:
    """What bytes are: how a content of `size` bytes is encoded, the SHA-256 of the bytes, and the base they need."""

    size: int
    encoding: str
    stored_digest: str | None = None
    base_digest: str | None = None


class FoundObjects:
    """Reads heads, and inserts records of what was found. It stays for some time, whatever it is."""

    def __init__(self, database: Database, backends: Backends) -> None:
        self._database = database
        self._backends = backends

    def register(
        self, storage: str, stats: Iterable[BlobStat | StoredBlob], *, keeps: timedelta, only_known: bool = False
    ) -> dict[str, int]:
        """Insert records of bytes that have none; return their ids by their keys. A content may be new, too.

        Each is kept for the time `keeps` at least. With `only_known`, others are passed over.
        """
        found = self._without_row(storage, {stat.key: stat.size for stat in stats})
        sizes = self._read_sizes(found)
        if only_known:
            found = {key: size for key, size in found.items() if parse_digest_in_key(key) in sizes}
        forms = {key: self._read_form(storage, key, size, sizes) for key, size in found.items()}
        return self._database.write(partial(self._insert, storage, found, forms, keeps)) if forms else {}

    def look_again(self, storage: str, stats: Iterable[BlobStat | StoredBlob], *, keeps: timedelta) -> int:
        """Say of listed bytes how they are stored, if their records do not know: of those that an upgrade has found.

        What a job has begun to make may have been finished since the database was backed up: it was found, too. Return
        the number of records that were changed.
        """
        sizes = {stat.key: stat.size for stat in stats}
        with self._database.reading() as session:
            query = select(StoredObject).where(StoredObject.storage == storage, StoredObject.key.in_(list(sizes)))
            rows = [(row, str(row.key)) for row in session.scalars(query.where(_is_unclear()))]
        contents = {row.digest: row.size for row, _ in rows}
        forms = {key: self._read_form(storage, key, sizes[key], contents) for _, key in rows}
        known = {key: form for key, form in forms.items() if form is not None}
        return self._database.write(partial(self._note_forms, storage, sizes, known, keeps)) if known else 0

    def _note_forms(
        self,
        storage: str,
        sizes: Mapping[str, int],
        forms: Mapping[str, _Form],
        keeps: timedelta,
        session: Session,
    ) -> int:
        query = select(StoredObject).where(StoredObject.storage == storage, StoredObject.key.in_(list(forms)))
        rows = session.scalars(query.where(_is_unclear()).order_by(StoredObject.id).with_for_update()).all()
        until = read_clock(session) + keeps
        for row in rows:
            key = str(row.key)
            row.stored_size = row.stored_digest = row.base_digest = None
            for name, value in self._columns(forms[key], sizes[key], row.size).items():
                setattr(row, name, value)
            row.state, row.slot, row.next_try = ObjectState.FOUND.value, None, None
            row.delete_after = max(until, row.delete_after or until)
        return len(rows)

    def _without_row(self, storage: str, found: dict[str, int]) -> dict[str, int]:
        with self._database.reading() as session:
            query = select(StoredObject.key).where(StoredObject.storage == storage, StoredObject.key.in_(list(found)))
            known = set(session.scalars(query))
        return {key: size for key, size in found.items() if key not in known}

    def _read_sizes(self, keys: Iterable[str]) -> dict[str, int]:
        digests = [parse_digest_in_key(key) for key in keys]
        with self._database.reading() as session:
            query = select(Content.digest, Content.size).where(Content.digest.in_(digests))
            return {digest: size for digest, size in session.execute(query)}

    def _read_form(self, storage: str, key: str, stored_size: int, sizes: Mapping[str, int]) -> _Form | None:
        """Return what bytes are; None if they are not what the key says.

        Bytes of the size of their content are taken as raw. A head with the digest of the key cannot be the beginning
        of a client's content: that would contain its own SHA-256.
        """
        digest = parse_digest_in_key(key) or ""
        if sizes.get(digest) == stored_size:
            return _Form(size=stored_size, encoding=RAW)
        place = StoredBlob(storage=storage, key=key, size=stored_size)
        if (form := self._read_encoded(place, digest)) is None:
            return None if digest in sizes else _Form(size=stored_size, encoding=RAW)
        with self._open(place) as stored:
            sha256 = digest_of(stored)
        return _Form(size=form.size, encoding=form.encoding, stored_digest=sha256, base_digest=form.base_digest)

    def _read_encoded(self, place: StoredBlob, digest: str) -> Form | None:
        """Return the form of the encoded object of a content, None if the object is not one, or cannot be read."""
        try:
            with self._open(place) as stored:
                form = self._backends.encodings.read_form(stored, digest)
        except (FrepoError, ValueError, OSError):
            return None
        return form if form and form.stored_size == place.size else None

    def _open(self, place: StoredBlob) -> BinaryIO:
        return seekable_content(partial(self._backends.get(place.storage).open, place.key), place.size)

    def _insert(
        self,
        storage: str,
        found: Mapping[str, int],
        forms: Mapping[str, _Form | None],
        keeps: timedelta,
        session: Session,
    ) -> dict[str, int]:
        known = select(StoredObject.key).where(StoredObject.storage == storage, StoredObject.key.in_(list(found)))
        taken, now = set(session.scalars(known)), read_clock(session)
        contents = self._contents(session, forms)
        rows: dict[str, StoredObject] = {}
        for key, form in forms.items():
            content = contents.get(parse_digest_in_key(key) or "")
            if key in taken or content is None:
                continue
            rows[key] = StoredObject(
                content_id=content.id,
                digest=content.digest,
                size=content.size,
                storage=storage,
                key=key,
                state=ObjectState.FOUND.value,
                role=COPY if storage == self._backends.mirror else FIRST,
                since=now,
                stored_at=now,
                delete_after=now + keeps,
                **self._columns(form, found[key], content.size),
            )
        session.add_all(rows.values())
        session.flush()
        return {key: row.id for key, row in rows.items()}

    def _columns(self, form: _Form | None, stored_size: int, size: int) -> dict[str, Any]:
        if form is None or form.size != size:  # the bytes are of another content, or cut
            return {"encoding": UNKNOWN, "stored_size": stored_size}
        if form.encoding == RAW:
            return {"encoding": RAW}
        more = {"stored_digest": form.stored_digest, "base_digest": form.base_digest}
        return {"encoding": form.encoding, "stored_size": stored_size, **more}

    def _contents(self, session: Session, forms: Mapping[str, _Form | None]) -> dict[str, Content]:
        """Return the contents by their digests; insert those that are not known."""
        digests = {parse_digest_in_key(key) or "": form for key, form in forms.items()}
        query = select(Content).where(Content.digest.in_(list(digests)))
        contents = {row.digest: row for row in session.scalars(query)}
        now = read_clock(session)
        for digest, form in digests.items():
            if digest not in contents and form is not None:
                row = Content(digest=digest, size=form.size, mime=_MIME, created_at=now)
                session.add(row)
                contents[digest] = row
        session.flush()
        return contents


def _is_unclear() -> ColumnElement[bool]:
    """Return the condition that a record does not say what the bytes are, or whether there are any."""
    is_unknown = and_(StoredObject.state == ObjectState.FOUND.value, StoredObject.encoding == UNKNOWN)
    return or_(is_unknown, StoredObject.state == ObjectState.WRITING.value)


def unlisted(session: Session, storage: str, after: int, count: int) -> Sequence[StoredObject]:
    """Return a page of the objects of which a storage should have the bytes, in the order of their ids."""
    states = [ObjectState.PRESENT, ObjectState.SUPERSEDED, ObjectState.LEAVING]
    there = (StoredObject.storage == storage, StoredObject.state.in_(states), StoredObject.id > after)
    return session.scalars(select(StoredObject).where(*there).order_by(StoredObject.id).limit(count)).all()
