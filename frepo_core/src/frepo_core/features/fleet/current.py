"""The fleet as it is in the database, read by a few statements whatever its size."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, CollectionToken, EnrolmentCode, EnrolmentCollection, Token
from frepo_core.domain.enrolment import collection_of_host
from frepo_core.services.base.records import CollectionRecord

from ..restore_tests.choices import Choice
from .fleet_file import FleetCollection, FleetToken


@dataclass(frozen=True, kw_only=True)
class OpenCode:
    """A one-time code that was not used yet: its id, the name of the token, its end, and its collections."""

    id: str
    name: str
    token_expires_at: datetime | None
    collections: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class CurrentFleet:
    """All collections by their ids, the valid tokens by the order of their creation, and who may use what.

    `listed` are the keys of tokens by the ids of collections. `origin` is what ids of collections are derived from.
    `codes` are the open one-time codes with a key, by that, and `choices` are how collections are restore-tested.
    """

    origin: str
    collections: Mapping[str, CollectionRecord]
    tokens: Sequence[Token]
    listed: Mapping[str, set[str]]
    codes: Mapping[str, OpenCode]
    choices: Mapping[str, Choice]

    @cached_property
    def _by_key(self) -> Mapping[str, CollectionRecord]:
        return {one.fleet_key: one for one in self.collections.values() if one.fleet_key}

    @cached_property
    def _by_fingerprint(self) -> Mapping[str, Token]:
        return {one.fingerprint: one for one in self.tokens}

    @cached_property
    def _by_token_key(self) -> Mapping[str, Token]:
        return {one.key: one for one in self.tokens}

    @cached_property
    def _tokens_by_key(self) -> Mapping[str, Sequence[Token]]:
        found: dict[str, list[Token]] = defaultdict(list)
        for one in self.tokens:
            if one.fleet_key:
                found[one.fleet_key].append(one)
        return found

    def find_collection(self, key: str, wanted: FleetCollection) -> CollectionRecord | None:
        """Return the collection of a key; or the one without a key that the file names by its id, or follows from it.

        `fleet:create` derives the id from the name of the host in the same way.
        """
        kept, named = self._by_key.get(key), self.collections.get(self.id_of(key, wanted))
        return kept or (named if named is not None and named.fleet_key is None else None)

    def id_of(self, key: str, wanted: FleetCollection) -> str:
        """Return the id that a new collection of this key gets."""
        return wanted.id.lower() if wanted.id else collection_of_host(self.origin, key)

    def place_of(self, key: str, wanted: FleetCollection) -> str:
        """Return the id that the collection of a key has, or gets."""
        found = self.find_collection(key, wanted)
        return found.id if found else self.id_of(key, wanted)

    def find_tokens(self, key: str, wanted: FleetToken) -> Sequence[Token]:
        """Return the tokens of a key, the newest last; or the one without a key that the file names."""
        named = self._by_fingerprint.get(wanted.fingerprint)
        return self._tokens_by_key.get(key) or ([named] if named is not None and not named.fleet_key else [])

    def clients_of(self, collection_id: str) -> Mapping[str, Sequence[Token]]:
        """Return the valid tokens on a list, by what stays the same when they are replaced."""
        found: dict[str, list[Token]] = defaultdict(list)
        for key in sorted(self.listed.get(collection_id, ())):
            if (token := self._by_token_key.get(key)) is not None:
                found[client_of(token)].append(token)
        return found


def client_of(token: Token) -> str:
    """Return what stays the same when a token is replaced."""
    return token.first_key or token.key


def read_current(session: Session, origin: str, now: datetime, choices: Mapping[str, Choice]) -> CurrentFleet:
    """Read the fleet. Expired tokens are left out."""
    listed: dict[str, set[str]] = defaultdict(set)
    for collection_id, token_key in session.execute(select(CollectionToken.collection_id, CollectionToken.token_key)):
        listed[collection_id].add(token_key)
    tokens = session.scalars(select(Token).order_by(Token.created_at, Token.key)).all()
    session.expunge_all()
    collections = session.execute(select(Collection.__table__)).all()
    return CurrentFleet(
        origin=origin,
        collections={row.id: CollectionRecord.of(row) for row in collections},
        tokens=[one for one in tokens if one.expires_at is None or one.expires_at > now],
        listed=listed,
        codes=_read_codes(session, now),
        choices=choices,
    )


def _read_codes(session: Session, now: datetime) -> Mapping[str, OpenCode]:
    is_open = (EnrolmentCode.used_at.is_(None), EnrolmentCode.expires_at > now, EnrolmentCode.fleet_key.is_not(None))
    joined = select(EnrolmentCode, EnrolmentCollection.collection_id).outerjoin(EnrolmentCollection).where(*is_open)
    rows: dict[str, tuple[EnrolmentCode, set[str]]] = {}
    for code, collection_id in session.execute(joined):
        rows.setdefault(code.fleet_key or "", (code, set()))[1].update([collection_id] if collection_id else [])
    return {
        key: OpenCode(
            id=code.id, name=code.name, token_expires_at=code.token_expires_at, collections=frozenset(collections)
        )
        for key, (code, collections) in rows.items()
    }
