"""Remember with which bases a content was tried in vain. What was tried before counts as compressed alone in vain."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

_CONTENT = sa.table("content", sa.column("id"), sa.column("tried_at", UtcDateTime()))


def upgrade() -> None:
    trials = op.create_table(
        "encoding_trial",
        sa.Column("id", RowId, nullable=False),
        sa.Column("content_id", RowId, nullable=False),
        sa.Column("base_digest", exact(64), nullable=False),
        sa.Column("tried_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["content_id"], ["content.id"], name=op.f("fk_encoding_trial_content_id_content"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_encoding_trial")),
        sa.UniqueConstraint("content_id", "base_digest", name=op.f("uq_encoding_trial_content_id_base_digest")),
        sqlite_autoincrement=True,
    )
    tried = sa.select(_CONTENT.c.id, sa.literal(""), _CONTENT.c.tried_at).where(_CONTENT.c.tried_at.is_not(None))
    op.execute(trials.insert().from_select(["content_id", "base_digest", "tried_at"], tried))


def downgrade() -> None:
    op.drop_table("encoding_trial")
