"""How the bytes of blobs and their copies are encoded, and the bytes that an encoding has replaced.

No row is written: null means that a blob is stored as it is. A downgrade is refused while blobs are encoded, because an
older version would send their stored bytes.
"""

import sqlalchemy as sa
from alembic import op

from frepo_core.db.types import RowId, UtcDateTime, exact
from frepo_core.errors import ConfigurationError

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

_ADDED: dict[str, tuple[str, ...]] = {
    "blob": ("stored_size", "stored_digest", "base_id", "tried_at", "expand_since", "encoding"),
    "blob_copy": ("stored_size", "stored_digest", "base_digest", "encoding"),
}


def upgrade() -> None:
    for table in _ADDED:
        op.add_column(table, sa.Column("encoding", sa.String(8), server_default="raw", nullable=False))
        op.add_column(table, sa.Column("stored_size", sa.BigInteger(), nullable=True))
        op.add_column(table, sa.Column("stored_digest", exact(64), nullable=True))
    op.add_column("blob_copy", sa.Column("base_digest", exact(64), nullable=True))
    op.create_index("ix_blob_copy_base", "blob_copy", ["base_digest", "storage"])
    _add_base()
    op.create_index(op.f("ix_blob_base_id"), "blob", ["base_id"])
    op.add_column("blob", sa.Column("tried_at", UtcDateTime(), nullable=True))
    op.add_column("blob", sa.Column("expand_since", UtcDateTime(), nullable=True))
    op.create_index(op.f("ix_blob_expand_since"), "blob", ["expand_since"])
    op.create_table(
        "replaced_object",
        sa.Column("id", RowId, nullable=False),
        sa.Column("storage", sa.String(64), nullable=False),
        sa.Column("key", exact(255), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("delete_after", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_replaced_object")),
        sa.UniqueConstraint("key", name=op.f("uq_replaced_object_key")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_replaced_object_end", "replaced_object", ["storage", "delete_after"])


def _add_base() -> None:
    """Add the column with its foreign key. Nothing is compared or copied: it is null in all rows."""
    name, dialect = op.f("fk_blob_base_id_blob"), op.get_bind().dialect.name
    if dialect == "sqlite":  # it can add a column with a key, but no key to a column
        op.execute(f"ALTER TABLE blob ADD COLUMN base_id INTEGER CONSTRAINT {name} REFERENCES blob (id)")
        return
    op.add_column("blob", sa.Column("base_id", RowId, nullable=True))
    is_mysql = dialect in {"mysql", "mariadb"}
    if is_mysql:  # which copies the table otherwise
        op.execute("SET foreign_key_checks = 0")
    op.create_foreign_key(name, "blob", "blob", ["base_id"], ["id"])
    if is_mysql:
        op.execute("SET foreign_key_checks = 1")


def downgrade() -> None:
    """Raise `ConfigurationError` while blobs are encoded."""
    encoded = sa.text("SELECT count(*) FROM blob WHERE encoding <> 'raw'")
    if count := op.get_bind().scalar(encoded):
        raise ConfigurationError(
            f"{count} contents are stored compressed, which the older version cannot read. "
            "Expand them first: frepo compact --expand"
        )
    op.drop_table("replaced_object")
    if op.get_bind().dialect.name != "sqlite":
        op.drop_constraint(op.f("fk_blob_base_id_blob"), "blob", type_="foreignkey")
    for table, index in (
        ("blob", op.f("ix_blob_base_id")),
        ("blob", op.f("ix_blob_expand_since")),
        ("blob_copy", "ix_blob_copy_base"),
    ):
        op.drop_index(index, table)
    for table, columns in _ADDED.items():
        with op.batch_alter_table(table, table_kwargs={"sqlite_autoincrement": True}) as batch:
            for column in columns:
                batch.drop_column(column)
