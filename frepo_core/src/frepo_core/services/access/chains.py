"""Chains of tokens that have replaced themselves: each ends a day after the next one's first use, or with any of them.

Who has stolen a token may have replaced it, and so on. So a revocation ends the whole chain, and what somebody else
does to one token is done to its successors, too. What somebody else makes by a rotation begins a chain of its own.
"""

from collections.abc import Sequence

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Token
from frepo_core.domain.identity import By
from frepo_core.domain.token_expiry import AFTER_FIRST_USE

from ..events.recording import record
from .open_codes import end_codes_of
from .token_rows import revocation


def find_chains(session: Session, rows: Sequence[Token]) -> dict[str, list[str]]:
    """Return the fingerprints of each of these tokens' chains, the oldest first, by the key of the chain.

    A token that is alone has no chain.
    """
    names = {row.chain_key or row.key for row in rows}
    columns = (Token.key, Token.fingerprint, Token.chain_key, Token.replaces_key)
    query = select(*columns).where(or_(Token.chain_key.in_(names), Token.key.in_(names))).order_by(Token.created_at)
    found = {each.key: each for each in session.execute(query)}
    after = {each.replaces_key: each.key for each in found.values() if each.chain_key}
    chains: dict[str, list[str]] = {}
    for first in [each for each in found.values() if each.replaces_key not in found]:
        key: str | None = first.key
        while key is not None:
            chains.setdefault(first.chain_key or first.key, []).append(found[key].fingerprint)
            key = after.get(key)
    return {name: chain for name, chain in chains.items() if len(chain) > 1}


def lock_successors(session: Session, row: Token) -> list[Token]:
    """Return the tokens of its chain that came after this one, in order, locked. The caller has locked the row.

    Each replaces itself only while its row is locked, so that none is missed.
    """
    chain, found = row.chain_key or row.key, [row]
    while successor := find_successor(session, chain, found[-1].key):
        found.append(successor)
    return found[1:]


def find_successor(session: Session, chain: str, key: str) -> Token | None:
    """Return the token that has replaced the one with this key at its own request, locked."""
    query = select(Token).where(Token.chain_key == chain, Token.replaces_key == key)
    return session.scalar(query.with_for_update())


def close_gaps(session: Session, gone: Sequence[Token]) -> None:
    """Let what has replaced these tokens, which have expired, follow what they had replaced: one chain stays one."""
    before = {row.key: row.replaces_key for row in gone}
    if not before:
        return
    query = select(Token).where(Token.replaces_key.in_(before), Token.key.not_in(before))
    for row in session.scalars(query.order_by(Token.key).with_for_update()):
        while row.replaces_key in before:
            row.replaces_key = before[row.replaces_key]


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
