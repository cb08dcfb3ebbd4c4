"""The use case of replacing the tokens of a whole fleet: those on the lists of collections whose names match."""

import contextlib
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, CollectionToken, Token
from frepo_core.domain.permissions import is_administrator
from frepo_core.domain.structs import struct
from frepo_core.domain.wildcards import matches
from frepo_core.errors import NotFoundError
from frepo_core.settings import Settings

from ...base.batches import batches
from ..former_tokens import find_ended
from ..token_changes import Rotation, TokenChanges
from ..token_records import admin_token_key, identity_of

BATCH = 100
# The end of a token that is edited is not in the past.
SOON = timedelta(seconds=1)


@struct
class Candidate:
    """A token to replace, and the names of those collections on whose lists it was found.

    `older` are the fingerprints of the tokens that it, or one before it, has replaced, and when they end.
    """

    key: str
    fingerprint: str
    name: str
    collections: Sequence[str]
    older: Sequence[tuple[str, datetime | None]] = ()


class FleetRotation:
    """Finds the tokens of a fleet, and replaces them one by one. For `frepo`, which may do all."""

    def __init__(self, database: Database, settings: Settings, changes: TokenChanges) -> None:
        self._database = database
        self._admin_key = admin_token_key(settings)
        self._changes = changes

    def find(self, patterns: Sequence[str]) -> list[Candidate]:
        """Return the valid tokens on the lists of collections whose names match one of the patterns, by name.

        Of tokens that have replaced each other, the newest is the one to replace. Those of administrators, who are on
        the list of what they have made, and that of the setting `security.admin_token`, are left out.
        """
        listed = select(Token, Collection.filename).join(CollectionToken, CollectionToken.token_key == Token.key)
        listed = listed.join(Collection, Collection.id == CollectionToken.collection_id)
        listed = listed.order_by(Token.created_at, Token.key, Collection.filename)
        now, clients = utc_now(), dict[str, dict[str, tuple[Token, list[str]]]]()
        with self._database.reading() as session:
            for row, name in session.execute(listed):
                is_wanted = any(matches(pattern, name) for pattern in patterns)
                if is_wanted and self._is_replaceable(row, now):
                    client = clients.setdefault(row.first_key or row.key, {})
                    client.setdefault(row.key, (row, []))[1].append(name)
        found = [_candidate(list(client.values())) for client in clients.values()]
        return sorted(found, key=lambda one: (one.name, one.fingerprint))

    def rotate(self, candidate: Candidate, token_id: str, overlap: timedelta) -> Rotation:
        """Replace the token by one with this id; the old one, and those before it, end after `overlap`.

        Raises the errors of `TokenChanges.rotate`.
        """
        done = self._changes.rotate(candidate.fingerprint, overlap, token_id=token_id)
        end = max(done.ends_at, utc_now() + SOON)
        for fingerprint, ends_at in candidate.older:
            if ends_at is None or ends_at > end:
                with contextlib.suppress(NotFoundError):  # it was revoked meanwhile
                    self._changes.edit(fingerprint, {"expires_at": end})
        return done

    def existing(self, keys: Sequence[str]) -> set[str]:
        """Return those of the keys that tokens have or had, so that a secret that was revoked does not come back."""
        found: set[str] = set()
        with self._database.reading() as session:
            for batch in batches(keys, BATCH):
                found |= {*session.scalars(select(Token.key).where(Token.key.in_(batch)))}
                found |= find_ended(session, [key for key in batch if key not in found])
        return found

    def _is_replaceable(self, row: Token, now: datetime) -> bool:
        is_over = row.expires_at is not None and row.expires_at <= now
        return not is_over and row.key != self._admin_key and not is_administrator(identity_of(row))


def _candidate(client: Sequence[tuple[Token, Sequence[str]]]) -> Candidate:
    """Return what is to be replaced of the tokens of one client, which are in the order of their creation."""
    *older, (row, names) = client
    return Candidate(
        key=row.key,
        fingerprint=row.fingerprint,
        name=row.name,
        collections=tuple(names),
        older=tuple((one.fingerprint, one.expires_at) for one, _ in older),
    )
