"""Finds, makes and inserts the rows of tokens, and builds the events about them."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session, aliased

from frepo_core.db.models import CollectionToken, Event, Token
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By, Identity
from frepo_core.domain.permissions import allows, is_administrator
from frepo_core.domain.roles import Role
from frepo_core.domain.signatures import FINGERPRINT_LENGTHS, fingerprint
from frepo_core.domain.structs import struct
from frepo_core.errors import AccessDeniedError, FieldsError, NotFoundError

from ..base.change_log import token_values
from ..events.actors import actor_of
from ..events.recording import NewEvent, record
from .token_records import identity_of

LIST_OF_TOKENS = "`frepo auth:list` lists the tokens with their fingerprints"
_FINGERPRINT = re.compile(r"[0-9a-f]{12,16}")


@struct
class NewToken:
    """The requested values of a token. `expires` is a time expression; `id` is a UUIDv4, or None for a random one.

    `expires_at` (aware) is used instead of `expires` if it is given. `fleet_key` is its key in a fleet file.
    """

    roles: Sequence[Role]
    tags: Sequence[str] = ()
    mimes: Sequence[str] = ()
    max_file_size: int = 0
    user_agents: Sequence[str] = ()
    ip_addresses: Sequence[str] = ()
    expires: str | None = None
    id: str | None = None
    name: str | None = None
    expires_at: datetime | None = None
    fleet_key: str | None = None


def new_row(new: NewToken, key: str, expires_at: datetime | None, now: datetime, by: By) -> Token:
    """Return a row that is not in a session yet. `insert_token` gives it a fingerprint."""
    return Token(
        key=key,
        name=new.name or "",
        expires_at=expires_at,
        roles=sorted({role.value for role in new.roles}),
        tags=list(new.tags),
        mimes=list(new.mimes),
        max_file_size=new.max_file_size,
        user_agents=list(new.user_agents),
        ip_addresses=list(new.ip_addresses),
        created_at=now,
        created_by=actor_of(by),
        fleet_key=new.fleet_key,
    )


def copy_row(row: Token, *, key: str = "", created_at: datetime | None = None, by: By = None) -> Token:
    """Return a copy with the same name, rights and restrictions, which is in no session. It has no fingerprint."""
    return Token(
        key=key or row.key,
        name=row.name,
        expires_at=row.expires_at,
        roles=list(row.roles),
        tags=list(row.tags),
        mimes=list(row.mimes),
        max_file_size=row.max_file_size,
        user_agents=list(row.user_agents),
        ip_addresses=list(row.ip_addresses),
        created_at=created_at or row.created_at,
        created_by=actor_of(by),
        first_key=row.first_key,
        fleet_key=row.fleet_key,
    )


def insert_token(session: Session, row: Token, by: By) -> Token:
    """Insert the row with the shortest unused fingerprint. Raises `FieldsError` if its id exists."""
    if session.get(Token, row.key):
        raise FieldsError({"id": ["id_already_exists_please_select_other_one"]})
    candidates = [fingerprint(row.key, length) for length in FINGERPRINT_LENGTHS]
    taken = set(session.scalars(select(Token.fingerprint).where(Token.fingerprint.in_(candidates))))
    row.fingerprint = next(candidate for candidate in candidates if candidate not in taken)
    session.add(row)
    created = NewEvent(kind=EventKind.TOKEN_CREATED, by=by, token=row.fingerprint, data={"after": token_values(row)})
    record(session, created)
    return row


def lock_token(session: Session, text: str, by: By) -> Token:
    """Return the row of the token with this fingerprint, locked until the end of the transaction.

    Raises `FieldsError` for a text that is no fingerprint, and `NotFoundError` for a token that does not exist or that
    `by` may not see.
    """
    query = select(Token).where(Token.fingerprint == check_fingerprint(text), *visible_to(by))
    row = session.scalar(query.with_for_update())
    if row is None:
        raise token_not_found(text)
    return row


def check_fingerprint(text: str) -> str:
    """Return the fingerprint in lower case. Raises `FieldsError`."""
    if not _FINGERPRINT.fullmatch(text.lower()):  # the text may be a token's id, which no message may contain
        problem = "12 to 16 hexadecimal digits are expected, as logs show them"
        raise FieldsError({"fingerprint": [problem]}, remedy=LIST_OF_TOKENS)
    return text.lower()


def token_not_found(text: str, *, is_admin_setting: bool = False) -> NotFoundError:
    """Return the error for a fingerprint that no token has. `check_fingerprint` must have accepted the text."""
    hint = "It is that of security.admin_token: `frepo install` generates that token" if is_admin_setting else None
    message = f"No token has the fingerprint {text}: it was revoked, cleared, or used up"
    return NotFoundError(message, explanation=hint, remedy=LIST_OF_TOKENS)


def check_may_change(row: Token, by: By) -> None:
    """Raise `AccessDeniedError` if the token is an administrator's, and `by` is a token that is not."""
    may = not isinstance(by, Identity) or allows("token.revoke_administrator", by)
    if is_administrator(identity_of(row)) and not may:
        raise AccessDeniedError("Only an administrator may revoke or change an administrator's token")


def visible_to(by: By) -> list[ColumnElement[bool]]:
    """Return the conditions for the tokens that `by` may see.

    A token that sees every collection, and everybody without a token, see all. Others see themselves, the tokens
    that no collection lists, and those that a collection lists which they may see.
    """
    if not isinstance(by, Identity) or allows("collection.fetch", by):
        return []
    lists_it = select(CollectionToken.collection_id).where(CollectionToken.token_key == Token.key)
    return [or_(Token.key == by.token, ~lists_it.exists(), lists_it.where(sees_collection(by)).exists())]


def visible_fingerprints(session: Session, fingerprints: Iterable[str], by: Identity) -> set[str]:
    """Return those of the fingerprints that belong to tokens that exist and that `by` may see, whatever its roles."""
    query = select(Token.fingerprint).where(Token.fingerprint.in_(list(fingerprints)), *visible_to(by))
    return set(session.scalars(query))


def sees_collection(by: Identity) -> ColumnElement[bool]:
    """Return the condition that the collection of a `CollectionToken` lists this token, too: a look-up by the key."""
    own = aliased(CollectionToken)
    return (
        select(own.collection_id)
        .where(own.collection_id == CollectionToken.collection_id, own.token_key == by.token)
        .correlate(CollectionToken)
        .exists()
    )


def revocation(row: Token, by: By) -> NewEvent:
    """Return the event about a token that is deleted on request."""
    data = {**_name(row), "roles": sorted(row.roles)}
    return NewEvent(kind=EventKind.TOKEN_REVOKED, by=by, token=row.fingerprint, data=data)


def expiry(row: Token, by: By, reason: str) -> NewEvent:
    """Return the event about a token that has ended."""
    expires_at = row.expires_at and row.expires_at.isoformat()
    data = {**_name(row), "roles": row.roles, "expires_at": expires_at, "reason": reason}
    return NewEvent(kind=EventKind.TOKEN_EXPIRED, by=by, token=row.fingerprint, data=data)


def use_after_expiry(expired: Event, by: Identity) -> NewEvent:
    """Return the event about the only upload of a token that has expired since; `expired` is the event about that."""
    data = {**expired.data, "reason": "single upload"}
    return NewEvent(kind=EventKind.TOKEN_EXPIRED, by=by, token=expired.token, data=data)


def _name(row: Token) -> dict[str, str]:
    return {"name": row.name} if row.name else {}
