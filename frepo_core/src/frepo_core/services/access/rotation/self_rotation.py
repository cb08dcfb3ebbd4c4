"""The use case of a token that replaces itself, safe for a client that gets no answer."""

import logging
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Event, Token
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor, new_uuid4, parse_uuid4
from frepo_core.domain.signatures import token_key
from frepo_core.domain.token_expiry import end_of_replaced
from frepo_core.errors import AccessDeniedError, FieldsError, TokenReplacedError
from frepo_core.settings import Settings

from ...events.recording import NewEvent, record
from ..chains import find_successor
from ..token_changes import Rotation, check_can_rotate, copy_access
from ..token_inventory import TokenInventory
from ..token_rows import copy_row, insert_token, revocation
from ..tokens import NO_ACCESS

log = logging.getLogger(__name__)

# Of one chain. A client that replaces its token each day has eight that have not ended.
MOST_TOKENS = 20
# Of one token, while nobody uses its successor. Each writes events, one for each of its collections among them.
MOST_AN_HOUR = 20


class SelfRotation:
    """Replaces tokens at their own request."""

    def __init__(self, database: Database, settings: Settings, inventory: TokenInventory) -> None:
        self._database = database
        self._phrase = settings.enc_token_phrase.get_secret_value()
        self._inventory = inventory

    def rotate(self, by: Identity, token_id: str | None = None) -> Rotation:
        """Make the successor of a token, with its name, expiry, roles, restrictions and collections.

        `token_id` is that of the successor, a new UUIDv4 that the client has made; None: a random one. The old token
        ends after 7 days, or a day after the first use of the successor. A token has one successor. The same
        `token_id` again is answered the same; another one replaces a successor that nobody has used. Raises
        `TokenReplacedError` if the successor is in use, or if too many of its chain have not ended,
        or too many were made within an hour,
        `AccessDeniedError` for a token for one upload, and `FieldsError` for an id that another token has, for a token
        that has expired since, and for that of `security.admin_token`.
        """
        if by.ends_with_upload:
            raise AccessDeniedError("No access: a token for one upload cannot replace itself")
        canonical = new_uuid4() if token_id is None else parse_uuid4(token_id)
        if canonical is None:
            raise FieldsError({"token": ["id_expects_to_be_uuidv4_format"]})
        key, now = token_key(self._phrase, canonical), utc_now()

        def work(session: Session) -> Rotation:
            row = session.scalar(select(Token).where(Token.key == by.token).with_for_update())
            if row is None:
                raise AccessDeniedError(NO_ACCESS)
            before = self._inventory.record(session, row, by=by)
            check_can_rotate(before, now)
            new = find_successor(session, row.chain_key or row.key, row.key)
            if new is None or new.key != key:
                new = _replace(session, row, new, key, by, now)
            shown, old = (self._inventory.record(session, one, by=by) for one in (new, row))
            return Rotation(id=canonical, new=shown, old=old, ends_at=row.expires_at or now)

        done = self._database.write(work)
        log.info(
            "%s replaced itself by token %s, and ends at %s", describe_actor(by), done.new.fingerprint, done.ends_at
        )
        return done


def _replace(session: Session, row: Token, unused: Token | None, key: str, by: Identity, now: datetime) -> Token:
    """Make the successor of a token, in place of one that nobody has used."""
    expires_at = row.expires_at
    if unused is not None:
        if unused.last_used_at is not None:
            raise TokenReplacedError(f"This token was replaced by token {unused.fingerprint}, which is in use")
        _require_few(session, row, now)
        expires_at = unused.expires_at  # that of the old token was shortened
        session.delete(unused)
        session.flush()
        record(session, revocation(unused, by))
    else:
        _require_room(session, row.chain_key or row.key, now)
    if session.get(Token, key):
        raise FieldsError({"token": ["id_already_exists_please_select_other_one"]})
    new = copy_row(row, key=key, created_at=now, by=by)
    new.expires_at, new.first_key = expires_at, row.first_key or row.key
    new.chain_key, new.replaces_key = row.chain_key or row.key, row.key
    insert_token(session, new, by)
    session.flush()
    collections = copy_access(session, row, new, by)
    row.expires_at = end_of_replaced(row.expires_at, now=now)
    data = {"replaced_by": new.fingerprint, "ends_at": row.expires_at.isoformat(), "collections": collections}
    record(session, NewEvent(kind=EventKind.TOKEN_ROTATED, by=by, token=row.fingerprint, data=data))
    return new


def _require_room(session: Session, chain: str, now: datetime) -> None:
    """Raise `TokenReplacedError` if `MOST_TOKENS` of a chain have not ended: each is a row that every change reads."""
    is_valid = or_(Token.expires_at.is_(None), Token.expires_at > now)
    query = select(func.count()).where(or_(Token.chain_key == chain, Token.key == chain), is_valid)
    if (session.scalar(query) or 0) >= MOST_TOKENS:
        raise TokenReplacedError(
            f"{MOST_TOKENS} tokens that have replaced each other have not ended: wait until the first of them ends, "
            "a day after its successor was used, or revoke them all"
        )


def _require_few(session: Session, row: Token, now: datetime) -> None:
    """Raise `TokenReplacedError` for a token that has replaced itself so often within an hour."""
    query = select(func.count()).where(Event.actor == row.fingerprint, Event.kind == EventKind.TOKEN_ROTATED.value)
    if (session.scalar(query.where(Event.at > now - timedelta(hours=1))) or 0) >= MOST_AN_HOUR:
        raise TokenReplacedError(
            f"This token has replaced itself {MOST_AN_HOUR} times within an hour: use its successor, or wait an hour"
        )
