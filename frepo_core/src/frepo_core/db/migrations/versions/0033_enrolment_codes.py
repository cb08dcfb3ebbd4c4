"""The one-time codes with which hosts enrol themselves."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import UtcDateTime, exact

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "enrolment_code",
        sa.Column("id", exact(36), nullable=False),
        sa.Column("key", exact(64), nullable=False),
        sa.Column("name", exact(128), nullable=False),
        sa.Column("token_expires_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("created_by", exact(128), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("used_at", UtcDateTime(), nullable=True),
        sa.Column("token_key", exact(64), nullable=True),
        sa.Column("token_fingerprint", sa.String(16), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_enrolment_code")),
        sa.UniqueConstraint("key", name=op.f("uq_enrolment_code_key")),
    )
    op.create_index("ix_enrolment_code_newest", "enrolment_code", ["created_at", "id"])
    op.create_index(op.f("ix_enrolment_code_name"), "enrolment_code", ["name"])
    op.create_index(op.f("ix_enrolment_code_expires_at"), "enrolment_code", ["expires_at"])
    op.create_table(
        "enrolment_collection",
        sa.Column("code_id", exact(36), nullable=False),
        sa.Column("collection_id", exact(36), nullable=False),
        sa.ForeignKeyConstraint(
            ["code_id"],
            ["enrolment_code.id"],
            name=op.f("fk_enrolment_collection_code_id_enrolment_code"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("fk_enrolment_collection_collection_id_collection"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("code_id", "collection_id", name=op.f("pk_enrolment_collection")),
    )
    op.create_index(op.f("ix_enrolment_collection_collection_id"), "enrolment_collection", ["collection_id"])
