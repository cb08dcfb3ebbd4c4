"""Enrols hosts: the collection of each, with a token or a one-time code."""

from dataclasses import replace

from frepo_core.db import Database, utc_now
from frepo_core.domain.backups.guards import SAFE_GUARDS
from frepo_core.domain.enrolment import collection_of_host
from frepo_core.domain.structs import struct
from frepo_core.domain.token_expiry import parse_expiry
from frepo_core.services.backups.collections.collection_with_token import CollectionsWithTokens, CollectionWithToken
from frepo_core.services.backups.collections.collections import Collections
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.base.installation import find_origin

from .codes import CodeRecord, EnrolmentCodes, IssuedCode, NewCode


@struct
class Enrolled(CollectionWithToken):
    """The collection of a host, with its token or a one-time code.

    `code` is a new one-time code in place of a token, and `open_code` the one of an earlier run, which cannot be shown
    again.
    """

    code: IssuedCode | None = None
    open_code: CodeRecord | None = None


class Hosts:
    """Enrols hosts. What exists already does not change."""

    def __init__(
        self, database: Database, collections: Collections, pairs: CollectionsWithTokens, codes: EnrolmentCodes
    ) -> None:
        self._database = database
        self._collections = collections
        self._pairs = pairs
        self._codes = codes

    def check(self, change: CollectionChange) -> None:
        """Raise what refuses the collection of a host, as far as that follows from its values."""
        self._collections.check(change, default_guards=SAFE_GUARDS)

    def enrol(self, host: str, change: CollectionChange, *, expires: str = "never") -> Enrolled:
        """Enrol a host. Its name is that of its token; the id of its collection follows from the name.

        So a second run finds the collection, whatever was edited in between.
        """
        return self._make(host, change, token_name=host, expires=expires)

    def invite(self, host: str, change: CollectionChange, *, expires: str = "never") -> Enrolled:
        """Make the collection of a host as `enrol` does, and a one-time code in place of the token.

        No code is made if there is a token, or a code that was not used yet.
        """
        made = self._make(host, change)
        collection = made.collection.id
        if found := None if made.is_new else self._pairs.find_token(collection, host):
            return replace(made, fingerprint=found.fingerprint)
        if waiting := self._codes.find_open(host, collection):
            return replace(made, open_code=waiting)
        end = parse_expiry(expires, now=utc_now(), default="never")
        code = self._codes.create(NewCode(name=host, collections=[collection], token_expires_at=end))
        return replace(made, code=code)

    def _make(
        self, host: str, change: CollectionChange, *, token_name: str | None = None, expires: str | None = "never"
    ) -> Enrolled:
        collection_id = collection_of_host(find_origin(self._database), host)
        made = self._pairs.make(
            replace(change, id=collection_id), token_name=token_name, expires=expires, may_exist=True
        )
        return Enrolled(**vars(made))
