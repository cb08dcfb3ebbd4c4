"""Which tokens may use a collection: the use cases for callers who name tokens by their fingerprints."""

import re
from collections.abc import Sequence

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import CollectionToken, Token
from frepo_core.domain.identity import Identity
from frepo_core.errors import FieldsError, NotFoundError

from ...access.token_rows import LIST_OF_TOKENS, visible_to
from ...access.tokens import Tokens
from ...base.records import identity_of
from .collection_rows import find_collection
from .collections import Collections

_FINGERPRINT = re.compile(r"[0-9a-f]{12,16}")


class CollectionAccess:
    """Lists, grants and revokes access."""

    def __init__(self, database: Database, collections: Collections, tokens: Tokens) -> None:
        self._database = database
        self._collections = collections
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
        return self._collections.get_for_token(collection_id, token)[1]

    def find_token(self, name: str, *, by: Identity | None = None) -> Identity:
        """Return the token with this fingerprint or id, if `by` may see it (None, the console, sees all).

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
        was_listed = self.is_listed(collection_id, token)
        self._collections.allow_token(collection_id, token.token, by=by)
        return token, not was_listed

    def revoke(self, collection_id: str, name: str, *, by: Identity | None = None) -> tuple[Identity, bool]:
        """Take a token off the list; return it, and whether it was there. Raises the same errors as `grant`."""
        token = self.find_token(name, by=by)
        was_listed = self.is_listed(collection_id, token)
        self._collections.disallow_token(collection_id, token.token, by=by)
        return token, was_listed
