"""Text columns of MariaDB and MySQL in utf8mb4, also in a database whose default is another character set."""

from alembic import op

from frepo_core.db.text_columns import widen_columns, widen_default

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    widen_default(connection)
    widen_columns(connection)
