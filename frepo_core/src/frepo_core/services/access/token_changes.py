"""The use cases that change a token: edit its name, expiry and restrictions, and replace it by a new one."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import insert, literal, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import CollectionToken, DeletedCollectionToken, Token
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By, describe_actor, new_uuid4
from frepo_core.domain.signatures import token_key
from frepo_core.domain.token_expiry import problem_with_past
from frepo_core.errors import FieldsError
from frepo_core.settings import Settings

from ..base.change_log import Changes, describe_changes, token_changes
from ..base.fleet_keys import claim_fleet_key
from ..events.facts import collection_event
from ..events.recording import NewEvent, record
from .chains import delete_chain, lock_successors
from .open_codes import shorten_codes_of
from .token_inventory import TokenInventory
from .token_records import ADMIN_SETTING, TokenRecord
from .token_rows import check_may_change, copy_row, insert_token, lock_token

log = logging.getLogger(__name__)

EDITABLE = ("name", "expires_at", "tags", "mimes", "max_file_size", "user_agents", "ip_addresses", "fleet_key")
MAX_OVERLAP = timedelta(days=366)
# Called in the transaction with the token before the change; what it raises prevents the change.
Precondition: TypeAlias = Callable[[TokenRecord], None]


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """A token that was replaced. `id` is the new one's, and never shown again; the old one ends at `ends_at`.

    Those of `also_ended`, which the old one has made by replacing itself, end after the overlap at the latest, too.
    """

    id: str
    new: TokenRecord
    old: TokenRecord
    ends_at: datetime
    also_ended: tuple[str, ...] = ()


class TokenChanges:
    """Edits, rotates and revokes tokens by their fingerprints. `by` is None for `frepo`, which has every right.

    All raise `FieldsError` for a text that is no fingerprint, `NotFoundError` for a token that does not exist or that
    the caller may not see, `AccessDeniedError` for an administrator's token if the caller is no administrator, and what
    the precondition raises.
    """

    def __init__(self, database: Database, settings: Settings, inventory: TokenInventory) -> None:
        self._database = database
        self._phrase = settings.enc_token_phrase.get_secret_value()
        self._inventory = inventory

    def edit(
        self, fingerprint: str, values: Mapping[str, Any], *, by: By = None, precondition: Precondition | None = None
    ) -> TokenRecord:
        """Set the values, under names of `EDITABLE`. A name of None is removed; an expiry of None never comes.

        Its successors, which it has made by replacing itself, get the same values: one of them may be a thief's. Their
        end is never put off. The `successors` of the record are those tokens. Raises `FieldsError` for an expiry in the
        past, and for one of the token of `security.admin_token`, which must not expire.
        """
        if unknown := values.keys() - set(EDITABLE):
            raise ValueError(f"{min(unknown)} of a token cannot be edited")

        def work(session: Session) -> tuple[TokenRecord, Changes]:
            row, before = self._lock(session, fingerprint, by, precondition)
            if before.setting and values.get("expires_at") is not None:
                raise FieldsError(
                    {"expires_at": [f"must stay empty: `frepo install` needs the token of {ADMIN_SETTING}"]}
                )
            if problem := problem_with_past(values.get("expires_at"), now=utc_now()):
                raise FieldsError({"expires_at": [problem]})
            if values.get("fleet_key"):
                claim_fleet_key(session, Token, values["fleet_key"])
            changes = _edit(session, row, values, by)
            successors = lock_successors(session, row)
            for successor in successors:
                _edit(session, successor, _for_successor(successor, values), by)
            if end := values.get("expires_at"):
                shorten_codes_of(session, [one.fingerprint for one in (row, *successors)], end)
            return self._inventory.record(session, row, by=by), changes

        edited, changes = self._database.write(work)
        who = ", ".join((edited.fingerprint, *edited.successors))
        log.info("token %s was edited by %s: %s", who, describe_actor(by), describe_changes(changes))
        return edited

    def rotate(
        self,
        fingerprint: str,
        overlap: timedelta,
        *,
        by: By = None,
        precondition: Precondition | None = None,
        token_id: str | None = None,
    ) -> Rotation:
        """Make a token with the same name, rights, limits, expiry and collections; the old one ends after `overlap`.

        So do its successors, which it has made by replacing itself: one of them may be a thief's. `token_id` is the
        id of the new token, a new UUIDv4; None: a random one. Raises `FieldsError`
        for an overlap of more than 366 days, for a token that has expired, and for the token of
        `security.admin_token`, whose id is in a setting.
        """
        if not timedelta() <= overlap <= MAX_OVERLAP:
            raise FieldsError({"overlap": [f"must be from 0 to {MAX_OVERLAP.days} days"]})
        chosen, now = token_id or new_uuid4(), utc_now()

        def work(session: Session) -> Rotation:
            row, before = self._lock(session, fingerprint, by, precondition)
            check_can_rotate(before, now)
            new = copy_row(row, key=token_key(self._phrase, chosen), created_at=now, by=by)
            new.first_key = row.first_key or row.key
            insert_token(session, new, by)
            session.flush()
            collections = copy_access(session, row, new, by)
            ends_at = row.expires_at = min(row.expires_at or now + overlap, now + overlap)
            successors = lock_successors(session, row)
            for successor in successors:
                _edit(session, successor, _for_successor(successor, {"expires_at": now + overlap}), by)
            shorten_codes_of(session, [one.fingerprint for one in (row, *successors)], ends_at)
            data = {"replaced_by": new.fingerprint, "ends_at": ends_at.isoformat(), "collections": collections}
            record(session, NewEvent(kind=EventKind.TOKEN_ROTATED, by=by, token=row.fingerprint, data=data))
            old = self._inventory.record(session, row, by=by)
            made = self._inventory.record(session, new, by=by)
            return Rotation(id=chosen, new=made, old=old, ends_at=ends_at, also_ended=old.successors)

        done = self._database.write(work)
        who = describe_actor(by)
        log.info(
            "token %s replaces token %s, which ends at %s, by %s",
            done.new.fingerprint,
            ", ".join((done.old.fingerprint, *done.old.successors)),
            done.ends_at,
            who,
        )
        return done

    def revoke(self, fingerprint: str, *, by: By = None, precondition: Precondition | None = None) -> TokenRecord:
        """Delete a token and its chain, also from the lists of all collections; return what it was."""

        def work(session: Session) -> TokenRecord:
            row, before = self._lock(session, fingerprint, by, precondition)
            delete_chain(session, row, by)
            return before

        revoked = self._database.write(work, may_use_reserve=True)
        log.info("token %s was revoked by %s", revoked.fingerprint, describe_actor(by))
        return revoked

    def _lock(
        self, session: Session, fingerprint: str, by: By, precondition: Precondition | None
    ) -> tuple[Token, TokenRecord]:
        row = lock_token(session, fingerprint, by)
        check_may_change(row, by)
        before = self._inventory.record(session, row, by=by)
        if precondition is not None:
            precondition(before)
        return row, before


def _edit(session: Session, row: Token, values: Mapping[str, Any], by: By) -> Changes:
    """Set the values of a token, record the event if something has changed, and return what."""
    old = copy_row(row)
    for name, value in values.items():
        setattr(row, name, _stored(name, value))
    changes = token_changes(old, row)
    if changes.after:
        edited = NewEvent(kind=EventKind.TOKEN_EDITED, by=by, token=row.fingerprint, data=asdict(changes))
        record(session, edited)
    return changes


def _for_successor(row: Token, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for a successor: its end is never put off."""
    end = values.get("expires_at")
    is_later = end is None or (row.expires_at is not None and row.expires_at <= end)
    return {name: value for name, value in values.items() if name != "expires_at" or not is_later}


def _stored(name: str, value: Any) -> Any:
    """Return a value as the column holds it."""
    if name == "name":
        return value or ""
    return list(value) if isinstance(value, tuple) else value


def check_can_rotate(token: TokenRecord, now: datetime) -> None:
    """Raise `FieldsError` for the token of `security.admin_token`, and for one that has expired."""
    if token.setting:
        raise FieldsError(
            {
                "fingerprint": [
                    (
                        f"This is the token of {ADMIN_SETTING}: set another id there, run `frepo install`, and revoke "
                        "this one"
                    )
                ]
            }
        )
    if token.expires_at and token.expires_at <= now:
        raise FieldsError({"fingerprint": ["This token has expired: generate a new one"]})


def copy_access(session: Session, old: Token, new: Token, by: By) -> int:
    """Put the new token on the lists of all collections that list the old one; return their number."""
    columns = [CollectionToken.collection_id, CollectionToken.token_key]
    listed = select(CollectionToken.collection_id, literal(new.key)).where(CollectionToken.token_key == old.key)
    session.execute(insert(CollectionToken).from_select(columns, listed))
    deleted = [DeletedCollectionToken.incarnation, DeletedCollectionToken.token_key]
    was_listed = select(DeletedCollectionToken.incarnation, literal(new.key))
    was_listed = was_listed.where(DeletedCollectionToken.token_key == old.key)
    session.execute(insert(DeletedCollectionToken).from_select(deleted, was_listed))
    query = select(CollectionToken.collection_id).where(CollectionToken.token_key == new.key)
    granted = [
        collection_event(EventKind.COLLECTION_ACCESS_GRANTED, collection, by=by, token=new.fingerprint)
        for collection in session.scalars(query.order_by(CollectionToken.collection_id))
    ]
    record(session, *granted)
    return len(granted)
