"""Copies of the rows of plug-ins that are recovered: what the journal and the catalogues have of their tables."""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Enum,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    TypeDecorator,
    delete,
    event,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError
from sqlalchemy.orm import Mapper, ORMExecuteState, Session
from sqlalchemy.types import TypeEngine

from frepo_core.db import Database
from frepo_core.db.migrations.plugin_schemas import PluginSchema
from frepo_core.db.models import Base, PluginRow, PluginRowChange
from frepo_core.db.types import UtcDateTime

log = logging.getLogger(__name__)

_KEY_LENGTH, _CHUNK = 200, 500
_TYPES = (Integer, String, Boolean, Float, JSON)
_ROW, _CHANGE = (Base.metadata.tables[model.__tablename__] for model in (PluginRow, PluginRowChange))
# The table, and the key of the row.
_Name = tuple[str, str]


def find_unfit(metadata: MetaData) -> str | None:
    """Return a column that a copy cannot have, with its table; None if there is none."""
    for table in metadata.sorted_tables:
        for column in table.columns:
            if not _is_fit(column.type):
                return f"{table.name}.{column.name}"
    return None


def _is_fit(kind: TypeEngine[Any]) -> bool:
    if isinstance(kind, UtcDateTime):
        return True
    plain = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
    return isinstance(plain, _TYPES) and not isinstance(plain, Enum)


class RowCopies:
    """Copies what transactions of a plug-in change in its tables, in the same transaction."""

    def __init__(self, schema: PluginSchema) -> None:
        self._plugin = schema.plugin
        self._revision = schema.head
        self._tables = schema.metadata.tables

    def watch(self, session: Session) -> None:
        """Copy what the models in this session change."""
        event.listen(session, "after_flush", self._copy)
        event.listen(session, "do_orm_execute", self._refuse)

    def _refuse(self, state: ORMExecuteState) -> None:
        """Refuse a statement that changes rows which no model in the session stands for."""
        table = getattr(state.statement, "table", None)
        if not state.is_select and isinstance(table, Table) and table.name in self._tables:
            raise ValueError(
                f"The rows of {table.name} are recovered, so that a statement cannot change them: use session.add(), "
                "session.delete(), or the attributes of models"
            )

    def _copy(self, session: Session, _context: Any) -> None:
        gone = {name for one in [*session.deleted, *session.dirty] if (name := self._name_before(one))}
        there = {name: one for one in [*session.new, *session.dirty] if (name := self._name_now(one))}
        if not gone and not there:
            return
        rows = [
            {
                "plugin": self._plugin,
                "table_name": table,
                "row_key": key,
                "data": _values_of(one),
                "revision": self._revision,
                "is_lacking": False,
            }
            for (table, key), one in there.items()
        ]
        names = sorted(gone | there.keys())
        changes = [{"plugin": self._plugin, "table_name": table, "row_key": key} for table, key in names]
        connection = session.connection()
        _delete(session, self._plugin, names)
        if rows:
            connection.execute(insert(_ROW), rows)
        connection.execute(insert(_CHANGE), changes)

    def _name_before(self, one: Any) -> _Name | None:
        """Return the name of a row as it was."""
        state = inspect(one)
        return self._name(state.mapper, state.identity) if state.identity else None

    def _name_now(self, one: Any) -> _Name | None:
        mapper = inspect(one).mapper
        return self._name(mapper, mapper.primary_key_from_instance(one))

    def _name(self, mapper: Mapper[Any], identity: Sequence[Any]) -> _Name | None:
        table = mapper.local_table
        if not isinstance(table, Table) or table.name not in self._tables:
            return None
        key = json.dumps([_to_json(value) for value in identity], ensure_ascii=False)
        return table.name, key if len(key) <= _KEY_LENGTH else hashlib.sha256(key.encode()).hexdigest()


def _delete(session: Session, plugin: str, names: Sequence[_Name]) -> None:
    by_table: dict[str, list[str]] = {}
    for table, key in names:
        by_table.setdefault(table, []).append(key)
    for table, keys in by_table.items():
        for start in range(0, len(keys), _CHUNK):
            chunk = _ROW.c.row_key.in_(keys[start : start + _CHUNK])
            where = (_ROW.c.plugin == plugin, _ROW.c.table_name == table, chunk)
            session.connection().execute(delete(_ROW).where(*where))


def _values_of(one: Any) -> dict[str, Any]:
    attributes = inspect(one).mapper.column_attrs
    return {attribute.columns[0].name: _to_json(getattr(one, attribute.key)) for attribute in attributes}


def _to_json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def read_back(database: Database, schemas: Sequence[PluginSchema]) -> Mapping[str, int]:
    """Insert the rows that a recovery has brought, and that the tables of these plug-ins lack; return their numbers.

    A row that cannot be inserted stays as a copy, and the log names it.
    """
    lacking = find_lacking(database) if schemas else {}
    counts = {schema.plugin: _fill(database, schema) for schema in schemas if schema.plugin in lacking}
    return {plugin: count for plugin, count in counts.items() if count}


def find_lacking(database: Database) -> Mapping[str, int]:
    """Return how many rows the tables of each plug-in lack since a recovery, because its package was not there."""
    query = select(PluginRow.plugin, func.count()).where(PluginRow.is_lacking).group_by(PluginRow.plugin)
    with database.reading() as session:
        return {plugin: count for plugin, count in session.execute(query)}


def mark_lacking(session: Session) -> None:
    """Note that a recovery has brought all copies."""
    session.execute(update(PluginRow).values(is_lacking=True), execution_options={"synchronize_session": False})


def _fill(database: Database, schema: PluginSchema) -> int:
    count = 0
    for table in schema.metadata.sorted_tables:  # a row after those that it refers to
        last = ""
        while keys := _next_keys(database, schema.plugin, table.name, last):
            last = keys[-1]
            try:
                count += database.write(partial(_insert, plugin=schema.plugin, table=table, keys=keys))
            except (DataError, IntegrityError, ProgrammingError):
                count += sum(_insert_alone(database, schema.plugin, table, key) for key in keys)
        database.write(partial(_continue_ids, table=table))
    return count


def _next_keys(database: Database, plugin: str, table: str, last: str) -> Sequence[str]:
    of_table = (PluginRow.plugin == plugin, PluginRow.table_name == table, PluginRow.is_lacking)
    query = select(PluginRow.row_key).where(*of_table, PluginRow.row_key > last)
    with database.reading() as session:
        return session.scalars(query.order_by(PluginRow.row_key).limit(_CHUNK)).all()


def _insert_alone(database: Database, plugin: str, table: Table, key: str) -> int:
    try:
        return database.write(partial(_insert, plugin=plugin, table=table, keys=[key]))
    except (DataError, IntegrityError, ProgrammingError) as error:
        problem = str(error.orig).partition("\n")[0]
        log.error("the row %s of %s was not recovered, and is kept in plugin_row: %s", key, table.name, problem)
        return 0


def _insert(session: Session, *, plugin: str, table: Table, keys: Sequence[str]) -> int:
    of_table = (_ROW.c.plugin == plugin, _ROW.c.table_name == table.name, _ROW.c.row_key.in_(keys))
    rows = session.execute(select(_ROW.c.data).where(*of_table).order_by(_ROW.c.row_key)).scalars().all()
    for values in rows:
        columns = [column for column in table.columns if column.name in values]
        known = {column.name: _from_json(column, values[column.name]) for column in columns}
        session.connection().execute(insert(table).values(known))
    session.connection().execute(update(_ROW).where(*of_table).values(is_lacking=False))
    return len(rows)


def _from_json(column: Column[Any], value: Any) -> Any:
    is_time = isinstance(column.type, UtcDateTime) and value is not None
    return datetime.fromisoformat(value) if is_time else value


def _continue_ids(session: Session, *, table: Table) -> None:
    """Let PostgreSQL give the next rows ids after the inserted ones. The other databases do so by themselves."""
    primary = list(table.primary_key.columns)
    if session.get_bind().dialect.name != "postgresql" or len(primary) != 1 or primary[0].type.python_type is not int:
        return
    sequence = session.scalar(select(func.pg_get_serial_sequence(table.name, primary[0].name)))
    if sequence and (last := session.scalar(select(func.max(primary[0])))):
        session.execute(select(func.setval(sequence, last)))
