"""Let nothing be deleted before the storages were compared with the objects that 0045 has made of older records.

It does not know how the bytes are stored that were replaced before, and what older versions have lost.
"""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import utc_now

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

_OBJECT = sa.table("object", sa.column("storage"), sa.column("state"))
_INSTALLATION = sa.table("installation", sa.column("name"), sa.column("value"))
_PREFIX = "reconcile."


def upgrade() -> None:
    known = sa.select(_INSTALLATION.c.name).where(_INSTALLATION.c.name.startswith(_PREFIX))
    connection = op.get_bind()
    names = set(connection.scalars(known))
    storages = connection.scalars(sa.select(_OBJECT.c.storage).where(_OBJECT.c.state != "gone").distinct()).all()
    for storage in storages:
        if _PREFIX + storage not in names:
            op.execute(_INSTALLATION.insert().values(name=_PREFIX + storage, value=utc_now().isoformat()))


def downgrade() -> None:
    op.execute(_INSTALLATION.delete().where(_INSTALLATION.c.name.startswith(_PREFIX)))
