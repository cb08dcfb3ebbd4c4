"""The ids that a database gives next, after rows were inserted with ids."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Base


def continue_sequences(session: Session) -> None:
    """Let PostgreSQL give the next rows ids after the inserted ones. The other databases do so by themselves."""
    if session.get_bind().dialect.name != "postgresql":
        return
    for table in Base.metadata.tables.values():
        primary = list(table.primary_key.columns)
        if len(primary) != 1 or primary[0].name != "id" or primary[0].type.python_type is not int:
            continue
        sequence = session.scalar(select(func.pg_get_serial_sequence(table.name, "id")))
        if sequence and (last := session.scalar(select(func.max(primary[0])))):
            session.execute(select(func.setval(sequence, last)))
