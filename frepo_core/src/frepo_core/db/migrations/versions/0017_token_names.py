"""The names of tokens, who made them, and when and from where each was used last.

Older tokens have no name, and their uses before this upgrade are unknown. So the time of the upgrade is kept.
"""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact, utc_now

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

INSTALLATION = sa.table("installation", sa.column("name", sa.String), sa.column("value", sa.String))
USES_FROM = "token_uses_from"


def upgrade() -> None:
    op.add_column("token", sa.Column("name", exact(128), nullable=False, server_default=sa.text("''")))
    op.add_column("token", sa.Column("created_by", exact(128), nullable=True))
    op.add_column("token", sa.Column("last_used_at", UtcDateTime(), nullable=True))
    op.add_column("token", sa.Column("last_used_from", sa.String(length=64), nullable=True))
    connection = op.get_bind()
    found = connection.scalar(sa.select(INSTALLATION.c.value).where(INSTALLATION.c.name == USES_FROM))
    if found is None:  # on MariaDB, an upgrade that was killed after this row is continued
        connection.execute(INSTALLATION.insert().values(name=USES_FROM, value=utc_now().isoformat()))
