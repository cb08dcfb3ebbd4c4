"""The rows of chains: tokens that have replaced each other at their own request."""

from collections.abc import Sequence

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Token


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
