"""Gives a host its token for a one-time code. The host has made the token's id itself, so a lost answer is no loss."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import CollectionToken, EnrolmentCode, Token
from frepo_core.domain.enrolment import OPEN, UPLOADER_ROLES, code_state, is_repetition
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor, By, parse_uuid4
from frepo_core.domain.signatures import enrolment_key, token_key
from frepo_core.errors import EnrolmentCodeError, FieldsError
from frepo_core.services.access.open_codes import code_events, collections_of
from frepo_core.services.access.password_attempts import PasswordAttempts
from frepo_core.services.access.token_inventory import TokenInventory
from frepo_core.services.access.token_records import ListedCollection
from frepo_core.services.access.token_rows import NewToken, insert_token, new_row
from frepo_core.services.base.fleet_keys import claim_fleet_key
from frepo_core.services.events.facts import collection_event
from frepo_core.services.events.recording import record
from frepo_core.settings import Settings

log = logging.getLogger(__name__)

_TARGET = "enrolment codes"
_WRONG = "This code is wrong, or it was revoked. Codes are made by `frepo fleet:create --codes`"
_USED = "This code was used already. If this host did not use it, somebody else did: revoke that token, make a new code"
_EXPIRED = "This code has expired: make a new one"
_NO_COLLECTION = "The collections of this code were deleted: make a new one"


@dataclass(frozen=True, kw_only=True)
class Enrolment:
    """What a host gets: the name and the fingerprint of its token, when that ends, and the collections that list it."""

    name: str
    fingerprint: str
    expires_at: datetime | None
    collections: Sequence[ListedCollection]


class EnrolmentRedemption:
    """Makes the token of a host for a code. Wrong codes of a client count like wrong passwords."""

    def __init__(
        self, database: Database, settings: Settings, inventory: TokenInventory, attempts: PasswordAttempts
    ) -> None:
        self._database = database
        self._phrase = settings.enc_token_phrase.get_secret_value()
        self._inventory = inventory
        self._attempts = attempts

    def redeem(self, code: str, token_id: str, *, address: str) -> Enrolment:
        """Make the token `token_id`, a new UUIDv4, with the rights of the code. The code ends with it.

        The same code and token again within an hour are answered the same. Raises `EnrolmentCodeError` for a code that
        is wrong, used or expired, `TooManyAttemptsError` after too many of them, and `FieldsError` for an id that is
        not a UUIDv4 or that another token has.
        """
        self._attempts.require_left(_TARGET, address, what="codes")
        canonical = parse_uuid4(token_id)
        if canonical is None:
            raise FieldsError({"token": ["id_expects_to_be_uuidv4_format"]})
        key, sent = token_key(self._phrase, canonical), code.strip().lower()
        by = Actor(name="anonymous", address=address)

        def work(session: Session) -> Enrolment:
            row = _lock(session, enrolment_key(self._phrase, sent))
            token = self._use(session, row, key, by) if row.used_at is None else _find_repeated(session, row, key)
            made = self._inventory.record(session, token, by=None)
            return Enrolment(
                name=row.name,
                fingerprint=made.fingerprint,
                expires_at=made.expires_at,
                collections=made.collections,
            )

        try:
            enrolment = self._database.write(work)
        except EnrolmentCodeError as error:
            self._attempts.add_failure(_TARGET, address, sent)
            log.warning("refused: an enrolment from %s: %s", address, error.message)
            raise
        log.info("token %s of %r was made by a code, from %s", enrolment.fingerprint, enrolment.name, address)
        return enrolment

    def _use(self, session: Session, row: EnrolmentCode, key: str, by: By) -> Token:
        """Make the token, list it, and mark the code as used."""
        now = utc_now()
        if code_state(used_at=None, expires_at=row.expires_at, now=now) != OPEN:
            raise EnrolmentCodeError(_EXPIRED)
        collections = collections_of(session, row.id)
        if not collections:
            raise EnrolmentCodeError(_NO_COLLECTION)
        if row.fleet_key:
            claim_fleet_key(session, Token, row.fleet_key)
        new = new_row(
            NewToken(roles=UPLOADER_ROLES, name=row.name, fleet_key=row.fleet_key), key, row.token_expires_at, now, by
        )
        new.created_by = row.created_by  # who has made the code answers for the token
        if session.get(Token, key):
            raise FieldsError({"token": ["id_already_exists_please_select_other_one"]})
        token = insert_token(session, new, by)
        session.flush()
        session.add_all([CollectionToken(collection_id=one, token_key=key) for one in collections])
        row.used_at, row.token_key, row.token_fingerprint = now, key, token.fingerprint
        granted = EventKind.COLLECTION_ACCESS_GRANTED
        record(
            session,
            *[collection_event(granted, one, by=by, token=token.fingerprint) for one in collections],
            *code_events(EventKind.ENROLMENT_USED, row, collections, by=by, token=token.fingerprint),
        )
        return token


def _lock(session: Session, key: str) -> EnrolmentCode:
    """Return the row of a code: of two hosts with the same code, the second one waits, and finds that it was used."""
    row = session.scalar(select(EnrolmentCode).where(EnrolmentCode.key == key).with_for_update())
    if row is None:
        raise EnrolmentCodeError(_WRONG)
    return row


def _find_repeated(session: Session, row: EnrolmentCode, key: str) -> Token:
    """Return the token that was made with a used code, if the same host asks again soon enough."""
    token = session.get(Token, key)
    is_same = is_repetition(used_at=row.used_at, token_key=row.token_key, sent_key=key, now=utc_now())
    if token is None or not is_same:
        raise EnrolmentCodeError(_USED)
    return token
