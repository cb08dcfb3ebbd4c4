"""The use cases of tokens by their ids: generate, look up, revoke and clear them, and check their validity."""

import contextlib
import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, bindparam, delete, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Token
from frepo_core.domain.identity import By, Identity, describe_actor, new_uuid4, parse_uuid4
from frepo_core.domain.network.addresses import is_allowed
from frepo_core.domain.permissions import allows, is_administrator
from frepo_core.domain.signatures import fingerprint, token_key
from frepo_core.domain.token_expiry import parse_expiry, problem_with_past
from frepo_core.domain.wildcards import matches
from frepo_core.error_explanations import not_a_uuid
from frepo_core.errors import AccessDeniedError, DatabaseUnavailableError, FieldsError, NotFoundError
from frepo_core.settings import Settings

from ..base.change_log import describe, token_values
from ..base.fleet_keys import claim_fleet_key
from ..events.recording import record
from .chains import close_gaps, delete_chain
from .former_tokens import find_expiry
from .token_last_use import TokenUses
from .token_records import identity_of
from .token_rows import NewToken, expiry, insert_token, new_row

__all__ = ["NO_ACCESS", "IssuedToken", "NewToken", "Tokens"]

log = logging.getLogger(__name__)

NO_ACCESS = "No access: a valid token is needed"
_TOKEN = Token.__table__
# Each request runs this query, so it selects only what an identity has.
_BY_KEY = select(
    _TOKEN.c.key,
    _TOKEN.c.fingerprint,
    _TOKEN.c.expires_at,
    _TOKEN.c.roles,
    _TOKEN.c.tags,
    _TOKEN.c.mimes,
    _TOKEN.c.max_file_size,
    _TOKEN.c.user_agents,
    _TOKEN.c.ip_addresses,
    _TOKEN.c.name,
    _TOKEN.c.first_key,
    _TOKEN.c.replaces_key,
    _TOKEN.c.last_used_at,
).where(_TOKEN.c.key == bindparam("key"))


@dataclass(frozen=True, kw_only=True)
class IssuedToken:
    """A new token: its id, which is never shown again, and the fingerprint that logs use for it."""

    id: str
    fingerprint: str
    expires_at: datetime | None


class Tokens:
    """Manages tokens. Only an HMAC of each id is stored."""

    def __init__(self, database: Database, settings: Settings, uses: TokenUses) -> None:
        self._database = database
        self._uses = uses
        self._phrase = settings.enc_token_phrase.get_secret_value()
        self._lifetime = settings.token_expiration_time

    def key(self, token_id: str) -> str | None:
        """Return the HMAC under which an id is stored, or None if the id is not a UUIDv4."""
        canonical = parse_uuid4(token_id.lower())
        return token_key(self._phrase, canonical) if canonical else None

    def fingerprint(self, token_id: str) -> str:
        """Return how logs name a token, known or unknown, without showing its id."""
        key = self.key(token_id)
        if key is None:
            return "that is not a UUIDv4"
        with contextlib.suppress(DatabaseUnavailableError):
            if known := self._find(token_id):
                return known.fingerprint
        return fingerprint(key)

    def identify(
        self, token_id: str, *, address: str, user_agent: str, age: float = 0, earlier: Identity | None = None
    ) -> Identity:
        """Return the identity of a valid token.

        Its expiry counts when the request began, `age` seconds ago. `earlier` is the identity that it had then: if this
        token has expired since, it may have been cleared. An end that it was given since, earlier than the one that
        it had, counts now: somebody wants what it has begun to end, too.
        Raises `AccessDeniedError` for any other. The reason is only logged, as it could help an attacker.
        """
        now = utc_now()  # before the database, which may keep it waiting
        row = self._fetch(token_id)
        identity = (
            identity_of(row, address, user_agent[:MAX_USER_AGENT])
            if row is not None
            else self._find_cleared(token_id, earlier)
        )
        if identity is None:
            log.warning("refused: an unknown token from %s", address)
            raise AccessDeniedError(NO_ACCESS)
        if earlier is not None and identity.expires_at is not None and _was_shortened(identity, earlier):
            age = 0
        if reason := refusal_reason(identity, address, user_agent, now - timedelta(seconds=age)):
            log.warning("refused: token %s from %s: %s", identity.fingerprint, address, reason)
            raise AccessDeniedError(NO_ACCESS)
        if row is not None and row.replaces_key and row.last_used_at is None:
            self._uses.note_first(identity.token, row.replaces_key, address)
        self._uses.note(identity.token, address)
        return identity

    def generate(self, new: NewToken, *, by: By = None) -> IssuedToken:
        """Make a token. `by` is None for `frepo`.

        Raises `FieldsError` for an id that exists or is not a UUIDv4, for a key that another token has, for an invalid
        expiry, and for an `expires_at` in the past. `expires`, the expression of the first API, may be in the past.
        """
        now = utc_now()
        problems: dict[str, list[str]] = {}
        expires_at = None
        try:
            expires_at = new.expires_at or parse_expiry(new.expires, now=now, default=self._lifetime)
        except ValueError as error:
            problems["expires_at"] = [str(error)]
        if problem := problem_with_past(new.expires_at, now=now):
            problems["expires_at"] = [problem]
        token_id = parse_uuid4(new.id.lower()) if new.id is not None else new_uuid4()
        if token_id is None:
            problems["id"] = ["id_expects_to_be_uuidv4_format"]
        if token_id is None or problems:
            raise FieldsError(problems)
        key = token_key(self._phrase, token_id)

        def work(session: Session) -> Token:
            if new.fleet_key:
                claim_fleet_key(session, Token, new.fleet_key)
            return insert_token(session, new_row(new, key, expires_at, now, by), by)

        row = self._database.write(work)
        log.info("token %s was made by %s: %s", row.fingerprint, describe_actor(by), describe(token_values(row)))
        return IssuedToken(id=token_id, fingerprint=row.fingerprint, expires_at=expires_at)

    def look_up(self, token_id: str) -> Identity:
        """Return the identity of a token, expired or not. Raises `NotFoundError`."""
        identity = self._find(token_id)
        if identity is None:
            malformed = self.key(token_id) is None
            raise NotFoundError("Token not found", explanation=not_a_uuid("token") if malformed else None)
        return identity

    def revoke(self, token_id: str, *, by: Identity) -> tuple[Identity, list[str]]:
        """Delete a token and its chain, also from the lists of all collections.

        Return what it was, and the fingerprints of the others of its chain. Raises `NotFoundError` or
        `AccessDeniedError`.
        """
        identity = self.look_up(token_id)
        if is_administrator(identity) and not allows("token.revoke_administrator", by):
            raise AccessDeniedError("Only an administrator may revoke an administrator's token")

        def work(session: Session) -> list[str]:
            row = session.scalar(select(Token).where(Token.key == identity.token).with_for_update())
            # Otherwise another request has revoked it meanwhile.
            return delete_chain(session, row, by) if row is not None else []

        deleted = self._database.write(work, may_use_reserve=True)
        log.info("token %s was revoked by %s", identity.fingerprint, describe_actor(by))
        return identity, [one for one in deleted if one != identity.fingerprint]

    def clear_expired(self, *, by: By = None) -> list[tuple[str, datetime]]:
        """Delete all expired tokens; return their fingerprints and expiry times."""
        now = utc_now()

        def work(session: Session) -> list[tuple[str, datetime]]:
            query = select(Token).where(Token.expires_at <= now).order_by(Token.expires_at).with_for_update()
            rows = session.scalars(query).all()
            close_gaps(session, rows)
            session.execute(delete(Token).where(Token.key.in_([row.key for row in rows])))
            record(session, *[expiry(row, by, "time") for row in rows])
            return [(row.fingerprint, row.expires_at) for row in rows if row.expires_at]

        cleared = self._database.write(work, may_use_reserve=True)
        for shown, end in cleared:
            log.info("token %s was removed by %s: it expired at %s", shown, describe_actor(by), end)
        return cleared

    def _find_cleared(self, token_id: str, earlier: Identity | None) -> Identity | None:
        if earlier is None or earlier.token != self.key(token_id):
            return None
        with self._database.reading() as session:
            expiry_event = find_expiry(session, earlier)
        if expiry_event is None:
            return None
        end = expiry_event.data.get("expires_at")
        return replace(earlier, expires_at=datetime.fromisoformat(end) if end else None)

    def _find(self, token_id: str) -> Identity | None:
        row = self._fetch(token_id)
        return None if row is None else identity_of(row)

    def _fetch(self, token_id: str) -> Row[Any] | None:
        key = self.key(token_id)
        rows = self._database.fetch_rows(_BY_KEY, key=key) if key is not None else ()
        return rows[0] if rows else None


def _was_shortened(identity: Identity, earlier: Identity) -> bool:
    """Return whether a token ends earlier than it, or the one that it has replaced, did when the request began."""
    end, was = identity.expires_at, earlier.expires_at
    return identity.client == earlier.client and end is not None and (was is None or end < was)


# Browsers send about 200 characters.
MAX_USER_AGENT = 2_000


def refusal_reason(identity: Identity, address: str, user_agent: str, began: datetime) -> str | None:
    """Return why the token is not valid for this client, or None if it is. The request began at `began` (UTC)."""
    if identity.expires_at and identity.expires_at <= began:
        return "it has expired"
    if not is_allowed(address, identity.ip_addresses):
        return "this address is not allowed"
    if identity.user_agents and len(user_agent) > MAX_USER_AGENT:
        return f"this User-Agent is longer than {MAX_USER_AGENT} characters"
    if identity.user_agents and not any(matches(pattern, user_agent) for pattern in identity.user_agents):
        return "this User-Agent is not allowed"
    return None
