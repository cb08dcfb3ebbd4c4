"""Chains of tokens that have replaced themselves: each ends a day after the next one's first use, or with any of them.

Who has stolen a token may have replaced it, and so on. So a revocation ends the whole chain, and what somebody else
does to one token is done to its successors, too. What somebody else makes by a rotation begins a chain of its own.
"""

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Token
from frepo_core.domain.identity import By
from frepo_core.domain.token_expiry import AFTER_FIRST_USE

from ..events.recording import record
from .open_codes import end_codes_of
from .token_rows import revocation


def delete_chain(session: Session, row: Token, by: By) -> list[str]:
    """Delete a token, all of its chain, and their open codes for hosts; return the fingerprints.

    The caller has locked the row.
    """
    chain = row.chain_key or row.key
    deleted = [row]
    session.delete(row)
    session.flush()
    query = select(Token).where(or_(Token.key == chain, Token.chain_key == chain)).order_by(Token.key)
    # Another one may be committed while this waits for the rows of the others.
    while rows := session.scalars(query.with_for_update()).all():
        for other in rows:
            session.delete(other)
        session.flush()
        deleted += rows
    record(session, *[revocation(one, by) for one in deleted])
    fingerprints = [one.fingerprint for one in deleted]
    end_codes_of(session, fingerprints, by)
    return fingerprints


def note_first_use(database: Database, key: str, replaced: str, address: str) -> None:
    """Write the first use of a token that has replaced another one: that one ends a day later, if it did not before."""
    now = utc_now()
    end = now + AFTER_FIRST_USE

    def work(session: Session) -> None:
        old = Token.key == replaced
        session.execute(
            update(Token).where(old, or_(Token.expires_at.is_(None), Token.expires_at > end)).values(expires_at=end)
        )
        first = update(Token).where(Token.key == key, Token.last_used_at.is_(None))
        session.execute(first.values(last_used_at=now, last_used_from=address[:64] or None))

    database.write(work)
