"""What the journal and the catalogues contain: objects, each with the rows that belong to it.

An object is read in its complete state, so that a reader needs no other line to understand it: a version has its file
and its blob in it. The order of `OBJECTS` is the one in which they can be inserted. Features have further kinds, each
with a place in this order: the port of recovered kinds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, Table, select, tuple_
from sqlalchemy.orm import Session

from frepo_core.db.models import (
    Alias,
    Base,
    Collection,
    CollectionToken,
    Content,
    DeletedCollection,
    DeletedCollectionToken,
    Event,
    File,
    Installation,
    PluginRow,
    PluginValue,
    Run,
    StoredObject,
    Tag,
    Token,
    TrashCheck,
    TrashEntry,
    Version,
    VersionCheck,
    VersionLabel,
    file_tag,
)
from frepo_core.domain.structs import struct
from frepo_core.services.access.token_phrase import PHRASE_CHECK
from frepo_core.services.base.installation import IDS_FROM

from .json_rows import Values, names_of, to_values

PAGE = 1000
# The name of the list of the current objects of a content.
PLACES = "objects"
FoundObject = tuple[tuple[Any, ...], Values]


@struct
class ListPart:
    """Rows that belong to an object: those of `source` whose column `link` is the object's column `parent`.

    With `within`, that is the column of a joined row.
    """

    source: FromClause
    link: str
    parent: str
    columns: tuple[str, ...]
    within: str | None = None
    conditions: tuple[ColumnElement[bool], ...] = ()

    def parent_of(self, values: Values) -> Any:
        """Return what the rows of an object are found by."""
        return (values[self.within] if self.within else values)[self.parent]


@struct
class ObjectKind:
    """A kind of object: its table, the columns that name it, and the other tables that its state is in.

    `joined` are tables of which one row belongs to it, with their conditions. `lists` are those of which several do.
    `is_journaled` says whether the journal has it; if not, only the catalogues do. A kind of a feature is written
    `after` one of the nucleus, and `named_by` is the key of its name in the data of the events about it.
    """

    name: str
    table: Table
    key: tuple[str, ...]
    joined: Mapping[str, tuple[Table, ColumnElement[bool]]] = field(default_factory=dict)
    lists: Mapping[str, ListPart] = field(default_factory=dict)
    conditions: tuple[ColumnElement[bool], ...] = ()
    is_journaled: bool = True
    after: str = ""
    named_by: str = ""

    def pages(self, session: Session, *conditions: ColumnElement[bool]) -> Iterator[list[FoundObject]]:
        """Yield all objects in pages, in the order of the primary key."""
        primary = tuple(self.table.primary_key.columns)
        after: ColumnElement[bool] | None = None
        while True:
            query = self._query().where(*conditions, *([] if after is None else [after]))
            rows = session.execute(query.order_by(*primary).limit(PAGE)).all()
            if not rows:
                return
            yield self._objects(session, rows)
            names = names_of(self.table)
            last = [rows[-1][names.index(column.name)] for column in primary]
            after = primary[0] > last[0] if len(primary) == 1 else tuple_(*primary) > tuple_(*last)

    def find(self, session: Session, keys: Sequence[tuple[Any, ...]]) -> list[FoundObject]:
        """Return the objects with these keys; several may have one key."""
        columns = [self.table.columns[name] for name in self.key]
        if len(columns) == 1:
            condition: ColumnElement[bool] = columns[0].in_([key[0] for key in keys])
        else:
            condition = tuple_(*columns).in_(keys)
        return self.find_where(session, condition)

    def find_where(self, session: Session, condition: ColumnElement[bool]) -> list[FoundObject]:
        """Return the objects for which the condition is true."""
        return self._objects(session, session.execute(self._query().where(condition)).all())

    def _query(self) -> Select[Any]:
        source: FromClause = self.table
        for table, condition in self.joined.values():
            source = source.join(table, condition)
        columns = [column for table in (self.table, *self._joined_tables) for column in table.columns]
        return select(*columns).select_from(source).where(*self.conditions)

    @property
    def _joined_tables(self) -> list[Table]:
        return [table for table, _ in self.joined.values()]

    def _objects(self, session: Session, rows: Sequence[Any]) -> list[FoundObject]:
        names = names_of(self.table)
        ends = len(names)
        found = [to_values(names, row[:ends]) for row in rows]
        for part, table in zip(self.joined, self._joined_tables, strict=True):
            start, part_names = ends, names_of(table)
            ends += len(part_names)
            for values, row in zip(found, rows, strict=True):
                values[part] = to_values(part_names, row[start:ends])
        for part, listed in self.lists.items():
            _add_list(session, found, part, listed)
            if part == PLACES:
                _add_places(found)
        return [(tuple(values[name] for name in self.key), values) for values in found]


def _add_list(session: Session, found: Sequence[Values], part: str, listed: ListPart) -> None:
    link = listed.source.columns[listed.link]
    columns = [listed.source.columns[name] for name in listed.columns]
    parents = [listed.parent_of(values) for values in found]
    query = select(link, *columns).where(link.in_(parents), *listed.conditions)
    rows = session.execute(query.order_by(link, columns[0])).all()
    by_parent = {
        parent: [to_values(listed.columns, row[1:]) for row in group]
        for parent, group in groupby(rows, key=itemgetter(0))
    }
    for values in found:
        if own := by_parent.get(listed.parent_of(values)):
            values[part] = own


def _add_places(found: Sequence[Values]) -> None:
    """Say in a content where it is, too: a hint for a reader, since the listings of the storages know it."""
    for values in found:
        if places := values.get(PLACES):
            best = min(places, key=lambda one: (one["state"] != "present", one["role"] != "first"))
            values["blob"] |= {"storage": best["storage"], "key": best["key"]}


def table_of(model: type[Base]) -> Table:
    """Return the table of a model."""
    return Base.metadata.tables[model.__tablename__]


TAGS = select(file_tag.c.file_id, table_of(Tag).c.name).join_from(file_tag, table_of(Tag)).subquery()
_CONTENT, _FILE, _TRASH = table_of(Content), table_of(File), table_of(TrashEntry)
_PLACE = table_of(StoredObject)
_OF_PLACE = ("storage", "key", "encoding", "stored_size", "stored_digest", "base_digest", "state", "role")


def children(model: type[Base], link: str, parent: str = "id") -> ListPart:
    """Return the rows of a table that belong to an object, by their column `link`."""
    table = table_of(model)
    names = tuple(name for name in names_of(table) if name != link)
    return ListPart(source=table, link=link, parent=parent, columns=names)


def _places(within: str | None) -> ListPart:
    return ListPart(
        source=_PLACE,
        link="content_id",
        parent="content_id",
        within=within,
        columns=_OF_PLACE,
        conditions=(_PLACE.c.slot == 1, _PLACE.c.key.is_not(None)),
    )


def kind_of(name: str, model: type[Base], *key: str, **more: Any) -> ObjectKind:
    """Return a kind by its model, and the columns that name its objects."""
    return ObjectKind(name=name, table=table_of(model), key=key, **more)


# The check value of the token phrase, and the id that ids of collections are derived from.
_INSTALLATION_KEPT = Installation.name.in_([PHRASE_CHECK, IDS_FROM])

OBJECTS: tuple[ObjectKind, ...] = (
    kind_of("installation", Installation, "name", conditions=(_INSTALLATION_KEPT,), is_journaled=False),
    kind_of("token", Token, "fingerprint"),
    kind_of("collection", Collection, "id", lists={"tokens": children(CollectionToken, "collection_id")}),
    kind_of(
        "deleted_collection",
        DeletedCollection,
        "collection_id",
        lists={"tokens": children(DeletedCollectionToken, "incarnation", "incarnation")},
    ),
    kind_of(
        "file",
        File,
        "id",
        joined={"blob": (_CONTENT, _CONTENT.c.id == _FILE.c.content_id)},
        lists={"tags": ListPart(source=TAGS, link="file_id", parent="id", columns=("name",)), PLACES: _places(None)},
        conditions=(File.kind == "plain",),
    ),
    kind_of(
        "version",
        Version,
        *("collection_id", "number"),
        joined={
            "file": (_FILE, _FILE.c.id == table_of(Version).c.file_id),
            "blob": (_CONTENT, _CONTENT.c.id == _FILE.c.content_id),
        },
        lists={
            "checks": children(VersionCheck, "version_id"),
            "label_rows": children(VersionLabel, "version_id"),
            PLACES: _places("file"),
        },
    ),
    kind_of(
        "trash",
        TrashEntry,
        *("collection_id", "number"),
        joined={"blob": (_CONTENT, _CONTENT.c.id == _TRASH.c.content_id)},
        lists={"checks": children(TrashCheck, "trash_id"), PLACES: _places(None)},
    ),
    kind_of("alias", Alias, "name"),
    kind_of("run", Run, "id", is_journaled=False),
    kind_of("plugin_value", PluginValue, "plugin", "key", is_journaled=False),
    kind_of("plugin_row", PluginRow, "plugin", "table_name", "row_key"),
    kind_of("event", Event, "id"),
)


def recovered_kinds(more: Iterable[ObjectKind] = ()) -> Sequence[ObjectKind]:
    """Return all kinds in the order of a file: those of the nucleus, and each of `more` after the one that it names."""
    kinds = list(OBJECTS)
    for kind in more:
        kinds.insert([one.name for one in kinds].index(kind.after) + 1, kind)
    return kinds
