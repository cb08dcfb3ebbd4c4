"""Labels of versions: names that plug-ins give them, by which they are found."""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import exact

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("version", sa.Column("labels", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("trash", sa.Column("labels", sa.JSON(none_as_null=True), nullable=True))
    op.create_table(
        "version_label",
        sa.Column("version_id", exact(36), nullable=False),
        sa.Column("name", exact(64), nullable=False),
        sa.Column("value", exact(200), nullable=False),
        sa.Column("collection_id", exact(36), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_version_label_version_id_version"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("version_id", "name", name=op.f("pk_version_label")),
    )
    op.create_index("ix_version_label_value", "version_label", ["collection_id", "name", "value"])


def downgrade() -> None:
    op.drop_table("version_label")
    op.drop_column("trash", "labels")
    op.drop_column("version", "labels")
