"""Which tokens may use a collection: its list of tokens, and the use cases that allow and disallow one."""

import logging
import re
from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, CollectionToken, Token
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.error_explanations import not_a_uuid
from frepo_core.errors import FieldsError, NotFoundError

from ...access.chains import lock_successors
from ...access.open_codes import take_from_codes_of
from ...access.token_records import identity_of
from ...access.token_rows import LIST_OF_TOKENS, visible_to
from ...access.tokens import Tokens
from ...events.facts import collection_event
from ...events.recording import NewEvent, record
from ..rows.collection_rows import find_collection

log = logging.getLogger(__name__)

_FINGERPRINT = re.compile(r"[0-9a-f]{12,16}")


class TokenLists:
    """Lists the tokens of a collection, allows and disallows them; `grant` and `revoke` take their fingerprints."""

    def __init__(self, database: Database, tokens: Tokens) -> None:
        self._database = database
        self._tokens = tokens

    def tokens(self, collection_id: str) -> Sequence[Identity]:
        """Return the tokens on the collection's list, expired ones included, by fingerprint. Raises `FieldsError`."""
        with self._database.reading() as session:
            collection = find_collection(session, collection_id)
            listed = select(CollectionToken.token_key).where(CollectionToken.collection_id == collection.id)
            query = select(Token).where(Token.key.in_(listed)).order_by(Token.fingerprint)
            return [identity_of(row) for row in session.scalars(query)]

    def is_listed(self, collection_id: str, token: Identity) -> bool:
        """Return whether the collection lists the token."""
        with self._database.reading() as session:
            collection = find_collection(session, collection_id)
            return session.get(CollectionToken, (collection.id, token.token)) is not None

    def find_token(self, name: str, *, by: Identity | None = None) -> Identity:
        """Return the token with this fingerprint or id, if `by` may see it (None, `frepo`, sees all).

        Raises `FieldsError` and `NotFoundError`, which do not show an id.
        """
        is_fingerprint = bool(_FINGERPRINT.fullmatch(name.lower()))
        key = None if is_fingerprint else self._tokens.key(name)
        if not is_fingerprint and key is None:
            problem = "write the fingerprint, which has 12 to 16 hexadecimal digits, or the id, which is a UUIDv4"
            raise FieldsError({"token": [problem]}, remedy=LIST_OF_TOKENS)
        condition = Token.fingerprint == name.lower() if is_fingerprint else Token.key == key
        with self._database.reading() as session:
            row = session.scalar(select(Token).where(condition, *visible_to(by)))
            if row is None:
                shown = f"with the fingerprint {name.lower()}" if is_fingerprint else "with this id"
                message = f"There is no token {shown}: it was revoked, cleared, or never existed"
                raise NotFoundError(message, remedy=LIST_OF_TOKENS)
            return identity_of(row)

    def grant(self, collection_id: str, name: str, *, by: Identity | None = None) -> tuple[Identity, bool]:
        """List the token; return it, and whether it is newly listed. Raises as `find_token`, and `FieldsError`."""
        token = self.find_token(name, by=by)
        return token, self._set(collection_id, token.token, is_listed=True, by=by)[1]

    def revoke(self, collection_id: str, name: str, *, by: Identity | None = None) -> tuple[Identity, bool]:
        """Take a token off the list; return it, and whether it was there. Raises the same errors as `grant`."""
        token = self.find_token(name, by=by)
        return token, self._set(collection_id, token.token, is_listed=False, by=by)[1]

    def allow(
        self, collection_id: str, token_key: str | None, *, by: Identity | None = None, simulate: bool = False
    ) -> int:
        """Put a token on the collection's list, if it is not there; return how many tokens the list has.

        Raises `FieldsError` for an unknown collection or token.
        """
        return self._set(collection_id, token_key, is_listed=True, by=by, simulate=simulate)[0]

    def disallow(
        self, collection_id: str, token_key: str | None, *, by: Identity | None = None, simulate: bool = False
    ) -> int:
        """Take a token and its successors off the collection's list; return how many are left. Raises as `allow`."""
        return self._set(collection_id, token_key, is_listed=False, by=by, simulate=simulate)[0]

    def _set(
        self, collection_id: str, token_key: str | None, *, is_listed: bool, by: Identity | None, simulate: bool = False
    ) -> tuple[int, bool]:
        """Put a token on the list or take it off; return the length of the list, and whether it has changed."""
        kind = EventKind.COLLECTION_ACCESS_GRANTED if is_listed else EventKind.COLLECTION_ACCESS_REVOKED

        def work(session: Session) -> tuple[int, bool, str]:
            row = find_collection(session, collection_id, lock=True)
            token = _find_row(session, token_key)
            entry = _entry(session, row, token)
            count, is_changed = _count(session, row.id), (entry is not None) != is_listed
            changed = [token] if is_changed else []
            if not is_listed:  # what a token has made by replacing itself may be a thief's
                successors = lock_successors(session, token)
                changed += [one for one in successors if _entry(session, row, one)]
                if not simulate:
                    take_from_codes_of(session, [one.fingerprint for one in (token, *successors)], row.id, by)
            for one in [] if simulate else changed:
                if is_listed:
                    session.add(CollectionToken(collection_id=row.id, token_key=one.key))
                else:
                    session.delete(_entry(session, row, one))
            if not simulate:
                record(session, *[collection_event(kind, row.id, by=by, token=one.fingerprint) for one in changed])
            count += len(changed) if is_listed else -len(changed)
            return count, is_changed, ", ".join(one.fingerprint for one in changed) or token.fingerprint

        count, is_changed, fingerprint = self._database.write(work)
        if is_changed and not simulate:
            done = "was allowed" if is_listed else "was taken off its list"
            log.info("collection %s: token %s %s by %s", collection_id, fingerprint, done, describe_actor(by))
        return count, is_changed


def put_creator_on_list(session: Session, collection_id: str, by: Identity | None) -> list[NewEvent]:
    """Put the creator's token on the list of a new collection; return the event about it. `frepo` has no token."""
    if by is None:
        return []
    session.add(CollectionToken(collection_id=collection_id, token_key=by.token))
    granted = EventKind.COLLECTION_ACCESS_GRANTED
    return [collection_event(granted, collection_id, by=by, token=by.fingerprint)]


def _find_row(session: Session, token_key: str | None) -> Token:
    row = session.get(Token, token_key, with_for_update=True) if token_key else None
    if row is None:
        raise FieldsError({"token": ["token_not_found"]}, explanation=None if token_key else not_a_uuid("token"))
    return row


def _entry(session: Session, collection: Collection, token: Token) -> CollectionToken | None:
    return session.get(CollectionToken, (collection.id, token.key))


def _count(session: Session, collection_id: str) -> int:
    listed = select(func.count()).select_from(CollectionToken).where(CollectionToken.collection_id == collection_id)
    return session.scalar(listed) or 0
