"""Unique fingerprints of tokens, so that a fingerprint in a log names one token."""

import sqlalchemy as sa
from alembic import op

from frepo_core.domain.signatures import FINGERPRINT_LENGTHS, fingerprint

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TOKEN = sa.table("token", sa.column("key", sa.String), sa.column("fingerprint", sa.String))


def upgrade() -> None:
    connection = op.get_bind()
    shared = sa.select(TOKEN.c.fingerprint).group_by(TOKEN.c.fingerprint).having(sa.func.count() > 1)
    for one in connection.scalars(shared).all():
        _, *others = connection.scalars(sa.select(TOKEN.c.key).where(TOKEN.c.fingerprint == one).order_by(TOKEN.c.key))
        for key in others:
            longer = _free(connection, key)
            connection.execute(TOKEN.update().where(TOKEN.c.key == key).values(fingerprint=longer))
    op.create_index(op.f("ix_token_fingerprint"), "token", ["fingerprint"], unique=True)


def _free(connection: sa.Connection, key: str) -> str:
    """Return the shortest fingerprint of a token's key that no other token has."""
    candidates = [fingerprint(key, length) for length in FINGERPRINT_LENGTHS]
    taken = set(connection.scalars(sa.select(TOKEN.c.fingerprint).where(TOKEN.c.fingerprint.in_(candidates))))
    return next(candidate for candidate in candidates if candidate not in taken)
