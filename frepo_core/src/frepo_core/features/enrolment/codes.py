"""The use cases of one-time codes: make them, list them, revoke them. Only an HMAC of each code is stored."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, CollectionToken, EnrolmentCode, EnrolmentCollection, Event
from frepo_core.domain.enrolment import CODE_LIFETIME, code_state, new_code
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By, Identity, derived_uuid4, describe_actor, parse_uuid4
from frepo_core.domain.permissions import allows
from frepo_core.domain.signatures import enrolment_key
from frepo_core.domain.token_expiry import problem_with_past
from frepo_core.errors import AccessDeniedError, FieldsError, NotFoundError
from frepo_core.services.access.open_codes import code_events, collections_of
from frepo_core.services.access.token_records import ListedCollection
from frepo_core.services.base.batches import batches
from frepo_core.services.base.fleet_keys import claim_fleet_key
from frepo_core.services.base.keyset import Page, PageRequest, cut, paged
from frepo_core.services.events.actors import actor_of
from frepo_core.services.events.recording import record
from frepo_core.settings import Settings

log = logging.getLogger(__name__)

# For one collection.
MOST_OPEN = 200
BATCH = 100
_SORTS = {"created_at": (EnrolmentCode.created_at, EnrolmentCode.id), "name": (EnrolmentCode.name, EnrolmentCode.id)}


@dataclass(frozen=True, kw_only=True)
class NewCode:
    """The requested values of a code: the name of the token, when that ends (None: never), and its collections.

    `code` is the code itself, None for a random one; `fleet_key` the key of the token in a fleet file.
    """

    name: str
    collections: Sequence[str]
    token_expires_at: datetime | None = None
    code: str | None = None
    fleet_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class CodeRecord:
    """A one-time code without the code. Times are UTC (aware), `state` is `open`, `used` or `expired`.

    `token` is the fingerprint of the token that was made with it. `collections` are those that the caller may see.
    """

    id: str
    name: str
    state: str
    collections: Sequence[ListedCollection]
    token_expires_at: datetime | None
    created_at: datetime
    created_by: str
    expires_at: datetime
    used_at: datetime | None
    token: str | None


@dataclass(frozen=True, kw_only=True)
class IssuedCode:
    """A new code, which is never shown again."""

    code: str
    record: CodeRecord


class EnrolmentCodes:
    """Manages one-time codes. `by` is None for `frepo`, which has every right.

    A token sees only the codes of collections that it may see.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._phrase = settings.enc_token_phrase.get_secret_value()

    def create(self, new: NewCode, *, by: By = None) -> IssuedCode:
        """Make a code that is valid for 7 days.

        Raises `FieldsError` for a collection that does not exist, that `by` may not see, or that has too many open
        codes, and for an end of the token in the past; `AccessDeniedError` for a collection whose list `by` may not
        change.
        """
        now = utc_now()
        if problem := problem_with_past(new.token_expires_at, now=now):
            raise FieldsError({"token_expires_at": [problem]})
        code = new.code or new_code()
        key = enrolment_key(self._phrase, code)

        def work(session: Session) -> IssuedCode:
            if new.fleet_key:
                claim_fleet_key(session, EnrolmentCode, new.fleet_key)
            row = EnrolmentCode(
                id=id_of(key),
                key=key,
                fleet_key=new.fleet_key,
                name=new.name,
                token_expires_at=new.token_expires_at,
                created_at=now,
                created_by=actor_of(by),
                expires_at=now + CODE_LIFETIME,
            )
            ids = _check_collections(session, new.collections, by)
            _require_room(session, ids, now)
            session.add(row)
            session.flush()
            session.add_all([EnrolmentCollection(code_id=row.id, collection_id=one) for one in ids])
            expires_at = row.expires_at.isoformat()
            record(session, *code_events(EventKind.ENROLMENT_CREATED, row, ids, by=by, expires_at=expires_at))
            session.flush()
            return IssuedCode(code=code, record=_records(session, [row], by)[0])

        issued = self._database.write(work)
        log.info("enrolment %s for %r was made by %s", issued.record.id, new.name, describe_actor(by))
        return issued

    def list_collections(self, code_id: str, collections: Sequence[str]) -> None:
        """Let an open code be for these collections, in place of those that it was for. Raises as `create`."""

        def work(session: Session) -> None:
            row = _find(session, code_id, None, lock=True)
            before, after = set(collections_of(session, row.id)), set(_check_collections(session, collections, None))
            _require_room(session, sorted(after - before), utc_now())
            more, gone = sorted(after - before), sorted(before - after)
            listed = EnrolmentCollection.code_id == row.id
            session.execute(delete(EnrolmentCollection).where(listed, EnrolmentCollection.collection_id.in_(gone)))
            session.add_all([EnrolmentCollection(code_id=row.id, collection_id=one) for one in more])
            for kind, ids in ((EventKind.ENROLMENT_CREATED, more), (EventKind.ENROLMENT_REVOKED, gone)):
                record(session, *code_events(kind, row, ids, by=None))

        self._database.write(work)

    def were_made(self, codes: Sequence[str], collections: Sequence[str]) -> set[str]:
        """Return those of the codes that there are, or that were made for these collections, as events know."""
        ids = {id_of(enrolment_key(self._phrase, code)): code for code in codes}
        with self._database.reading() as session:
            known = set(session.scalars(select(EnrolmentCode.id).where(EnrolmentCode.id.in_(ids))))
            made = select(Event.data).where(Event.kind == EventKind.ENROLMENT_CREATED.value)
            for batch in batches(collections, BATCH):
                rows = session.scalars(made.where(Event.collection_id.in_(batch)))
                known |= {str(data.get("enrolment")) for data in rows}
        return {code for name, code in ids.items() if name in known}

    def page(self, page: PageRequest, *, by: By) -> Page[CodeRecord]:
        """Return a page of the codes, ordered by `created_at` or `name`."""
        columns = _SORTS[page.sort]
        with self._database.reading() as session:
            query = paged(select(EnrolmentCode).where(*_visible_to(by)), page, columns)
            found = cut(session.scalars(query).all(), page, lambda row: (getattr(row, page.sort), row.id))
            return Page(items=_records(session, found.items, by), next=found.next)

    def show(self, code_id: str, *, by: By = None) -> CodeRecord:
        """Return a code. Raises `NotFoundError`."""
        with self._database.reading() as session:
            return _records(session, [_find(session, code_id, by)], by)[0]

    def find_open(self, name: str, collection_id: str) -> CodeRecord | None:
        """Return the open code for a token of this name and this collection, None without one."""
        query = select(EnrolmentCode).join(EnrolmentCollection)
        query = query.where(EnrolmentCode.name == name, EnrolmentCollection.collection_id == collection_id)
        query = query.where(EnrolmentCode.used_at.is_(None), EnrolmentCode.expires_at > utc_now())
        with self._database.reading() as session:
            row = session.scalar(query.limit(1))
            return _records(session, [row], None)[0] if row is not None else None

    def revoke(self, code_id: str, *, by: By = None) -> CodeRecord:
        """Delete a code. A token that was made with it stays. Raises `NotFoundError`."""

        def work(session: Session) -> CodeRecord:
            row = _find(session, code_id, by, lock=True)
            before = _records(session, [row], by)[0]
            if row.used_at is None:
                record(session, *code_events(EventKind.ENROLMENT_REVOKED, row, collections_of(session, row.id), by=by))
            session.delete(row)
            return before

        revoked = self._database.write(work, may_use_reserve=True)
        log.info("enrolment %s for %r was revoked by %s", revoked.id, revoked.name, describe_actor(by))
        return revoked


def id_of(key: str) -> str:
    """Return the id of the code with this HMAC, from which nobody can tell the code."""
    return derived_uuid4(key, "enrolment")


def _check_collections(session: Session, names: Sequence[str], by: By) -> list[str]:
    """Return the ids, each once. Raises as `EnrolmentCodes.create`."""
    ids = sorted({parse_uuid4(name) or name for name in names})
    known = set(session.scalars(select(Collection.id).where(Collection.id.in_(ids))))
    listed = known
    if isinstance(by, Identity):
        mine = select(CollectionToken.collection_id).where(CollectionToken.token_key == by.token)
        listed = set(session.scalars(mine.where(CollectionToken.collection_id.in_(ids))))
        known = {one for one in known if allows("collection.fetch", by, listed=one in listed)}
    if unknown := [one for one in ids if one not in known]:
        raise FieldsError({"collections": [f"there is no collection {one}" for one in unknown]})
    if isinstance(by, Identity) and not all(allows("collection.tokens", by, listed=one in listed) for one in ids):
        raise AccessDeniedError("No access: the token may not change the list of tokens of each of these collections")
    return ids


def _require_room(session: Session, ids: Sequence[str], now: datetime) -> None:
    """Raise `FieldsError` for a collection with as many open codes as it may have."""
    is_open = (EnrolmentCode.used_at.is_(None), EnrolmentCode.expires_at > now)
    query = select(EnrolmentCollection.collection_id).join(EnrolmentCode).where(*is_open)
    query = query.where(EnrolmentCollection.collection_id.in_(ids)).group_by(EnrolmentCollection.collection_id)
    if full := session.scalars(query.having(func.count() >= MOST_OPEN)).all():
        problem = f"has {MOST_OPEN} open one-time codes: revoke some, or wait until they are used or end"
        raise FieldsError({"collections": [f"the collection {one} {problem}" for one in full]})


def _find(session: Session, code_id: str, by: By, *, lock: bool = False) -> EnrolmentCode:
    query = select(EnrolmentCode).where(EnrolmentCode.id == code_id.lower(), *_visible_to(by))
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise NotFoundError("There is no enrolment with this id: it was revoked, or ended more than 30 days ago")
    return row


def _visible_to(by: By) -> list[ColumnElement[bool]]:
    if not isinstance(by, Identity) or allows("collection.fetch", by):
        return []
    mine = select(EnrolmentCollection.code_id).join(
        CollectionToken, CollectionToken.collection_id == EnrolmentCollection.collection_id
    )
    return [EnrolmentCode.id.in_(mine.where(CollectionToken.token_key == by.token))]


def _records(session: Session, rows: Sequence[EnrolmentCode], by: By) -> list[CodeRecord]:
    collections, now = _find_collections(session, [row.id for row in rows], by), utc_now()
    return [
        CodeRecord(
            id=row.id,
            name=row.name,
            state=code_state(used_at=row.used_at, expires_at=row.expires_at, now=now),
            collections=collections[row.id],
            token_expires_at=row.token_expires_at,
            created_at=row.created_at,
            created_by=row.created_by,
            expires_at=row.expires_at,
            used_at=row.used_at,
            token=row.token_fingerprint,
        )
        for row in rows
    ]


def _find_collections(session: Session, ids: Sequence[str], by: By) -> Mapping[str, list[ListedCollection]]:
    query = select(EnrolmentCollection.code_id, Collection.id, Collection.filename).join(
        Collection, Collection.id == EnrolmentCollection.collection_id
    )
    query = query.where(EnrolmentCollection.code_id.in_(ids)).order_by(Collection.filename, Collection.id)
    if isinstance(by, Identity) and not allows("collection.fetch", by):
        mine = select(CollectionToken.collection_id).where(CollectionToken.token_key == by.token)
        query = query.where(Collection.id.in_(mine))
    found: dict[str, list[ListedCollection]] = defaultdict(list)
    for code_id, collection_id, name in session.execute(query):
        found[code_id].append(ListedCollection(id=collection_id, name=name))
    return found
