"""Uses up a token that allows only one upload, in the transaction of that upload."""

import logging

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Token
from frepo_core.db.prepared_statements import fetch
from frepo_core.domain.identity import Identity
from frepo_core.errors import AccessDeniedError

from ..events.recording import record
from .former_tokens import find_expiry
from .token_rows import expiry, use_after_expiry
from .tokens import NO_ACCESS

log = logging.getLogger(__name__)

_TOKEN = Token.__table__
_FIND = select(_TOKEN.c.key).where(_TOKEN.c.key == bindparam("key"))


def consume_token(session: Session, identity: Identity) -> None:
    """Delete a token that allows only one upload, in the transaction of that upload. Other tokens stay.

    Raises `AccessDeniedError` if the token was revoked since the upload began. Of two concurrent uploads with the same
    token for one upload, one succeeds and the other raises that, too, also if the token has expired and was cleared
    meanwhile.
    """
    if not identity.ends_with_upload:
        if not _exists(session, identity) and not find_expiry(session, identity):
            raise AccessDeniedError(NO_ACCESS)
        return
    row = session.scalar(select(Token).where(Token.key == identity.token).with_for_update())
    if row is None:
        expired = find_expiry(session, identity, lock=True)
        if expired is None:
            raise AccessDeniedError(NO_ACCESS)
        record(session, use_after_expiry(expired, identity))
        return
    session.delete(row)
    session.flush()
    record(session, expiry(row, identity, "single upload"))


def _exists(session: Session, identity: Identity) -> bool:
    """Return whether the token is there, or the identity has none. Each upload asks it: so without a model."""
    if not identity.token:
        return True
    return bool(fetch(session.connection(), _FIND, {"key": identity.token}))


def log_consumed_token(identity: Identity) -> None:
    """Log, after the commit, that `consume_token` has deleted the token."""
    log.info("token %s was used up by its upload", identity.fingerprint)
