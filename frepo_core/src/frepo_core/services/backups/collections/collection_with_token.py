"""Makes a collection, a token and its access in one step, which is safe to run again."""

import contextlib
from collections.abc import Sequence

from frepo_core.db import utc_now
from frepo_core.domain.backups.guards import SAFE_GUARDS
from frepo_core.domain.enrolment import UPLOADER_ROLES
from frepo_core.domain.identity import Identity
from frepo_core.domain.naming import check_token_name
from frepo_core.domain.permissions import is_uploader
from frepo_core.domain.structs import struct
from frepo_core.errors import FieldsError, FrepoError, IdInUseError

from ...access.token_changes import TokenChanges
from ...access.tokens import IssuedToken, NewToken, Tokens
from ...base.records import CollectionRecord
from ..rows.collection_change import CollectionChange
from .collections import Collections
from .token_list import TokenLists


@struct
class CollectionWithToken:
    """A collection, and the token that was made for it; None if none was requested, or if there was one already.

    `fingerprint` is that of the token, new or not.
    """

    collection: CollectionRecord
    is_new: bool
    token: IssuedToken | None = None
    fingerprint: str | None = None


class CollectionsWithTokens:
    """Makes collections with their tokens. What exists already does not change."""

    def __init__(
        self,
        collections: Collections,
        tokens: Tokens,
        changes: TokenChanges,
        access: TokenLists,
    ) -> None:
        self._collections = collections
        self._tokens = tokens
        self._changes = changes
        self._access = access

    def make(
        self,
        change: CollectionChange,
        *,
        token_name: str | None = None,
        expires: str | None = "never",
        allow: Sequence[str] = (),
        may_exist: bool = False,
    ) -> CollectionWithToken:
        """Create a collection, and a token with this name that can upload to it. Also list the tokens `allow`.

        Unless the change says otherwise, the collection quarantines versions that shrank by half.
        `allow` names tokens by fingerprint or id. `may_exist` accepts a collection with the id of the change; if a
        valid token of the name that can upload is on its list, no other one is made. Raises the errors of
        `Collections.create`, `Tokens.generate` and `TokenLists.find_token`; the last ones before something is
        created.
        """
        name = _check_name(token_name)
        allowed = [self._access.find_token(name) for name in allow]
        record, is_new = self._find_or_create(change, may_exist=may_exist)
        for token in allowed:
            self._access.grant(record.id, token.fingerprint)
        if name is None:
            return CollectionWithToken(collection=record, is_new=is_new)
        if not is_new and (found := self.find_token(record.id, name)):
            return CollectionWithToken(collection=record, is_new=False, fingerprint=found.fingerprint)
        issued = self._issue(record.id, NewToken(roles=UPLOADER_ROLES, expires=expires, name=name))
        return CollectionWithToken(collection=record, is_new=is_new, token=issued, fingerprint=issued.fingerprint)

    def find_token(self, collection_id: str, name: str) -> Identity | None:
        """Return a token of this name on the list that is for uploads and has not expired."""
        now = utc_now()
        for token in self._access.tokens(collection_id):
            if token.name == name and is_uploader(token) and not (token.expires_at and token.expires_at <= now):
                return token
        return None

    def _find_or_create(self, change: CollectionChange, *, may_exist: bool) -> tuple[CollectionRecord, bool]:
        try:
            return self._collections.create(change, by=None, default_guards=SAFE_GUARDS), True
        except IdInUseError:
            if change.id is None or not may_exist:
                raise
            return self._collections.get(change.id), False

    def _issue(self, collection_id: str, new: NewToken) -> IssuedToken:
        """Make a token and put it on the list. If the second fails, the token is revoked: nobody will know its id."""
        issued = self._tokens.generate(new)
        try:
            self._access.grant(collection_id, issued.fingerprint)
        except FrepoError:
            with contextlib.suppress(FrepoError):
                self._changes.revoke(issued.fingerprint)
            raise
        return issued


def _check_name(name: str | None) -> str | None:
    try:
        return None if name is None else check_token_name(name)
    except ValueError as error:
        raise FieldsError({"token-name": [str(error)]}) from None
