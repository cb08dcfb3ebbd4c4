"""Inserts the objects of a catalogue and of the journal into the tables, in batches that can be repeated."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Table, func, insert, or_, select
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError, StatementError
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import (
    Base,
    Collection,
    Content,
    File,
    Tag,
    Token,
    TrashCheck,
    TrashEntry,
    file_tag,
)
from frepo_core.domain.naming import printable, stored_name

from .journal.json_rows import Values, to_row
from .journal.objects import PLACES, ListPart, ObjectKind, table_of
from .possible_values import possible_values
from .staging import Key, MissingContent, RecoveryStaging

_FILE, _TAG, _CONTENT = table_of(File), table_of(Tag), table_of(Content)
_TOKENS, _COLLECTIONS = table_of(Token).c.key, table_of(Collection).c.id
# What a row of a list names, and may have been deleted since the list was written.
_NAMED: Mapping[str, tuple[str, Column[Any]]] = {
    "tokens": ("token_key", _TOKENS),
    "collections": ("collection_id", _COLLECTIONS),
}
# Before there were objects, these were about one of them.
_NO_PLANS: Values = {"tried_at": None, "expand_since": None}
_Object = tuple[Key, Values]
# What an object with impossible values ends in, and what is a fault of the database instead.
_UNUSABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, StatementError)
_OF_THE_DATABASE = (InterfaceError, InternalError, OperationalError)


class RowLoader:
    """Inserts objects. What is in the database already stays, so a recovery that was stopped can be repeated.

    `counts` are the numbers of objects by kind. Contents get no objects: where they are, the listings say.
    `unusable` says of which objects no rows can be made, and why.
    """

    def __init__(self, database: Database, staging: RecoveryStaging) -> None:
        self._database = database
        self._staging = staging
        self.counts: Counter[str] = Counter()
        self.unusable: list[str] = []

    def load(self, kind: ObjectKind, objects: Sequence[_Object]) -> None:
        """Insert objects of one kind. One that no row can be made of is passed over, and named in `unusable`."""
        try:
            self._load(kind, objects)
        except _UNUSABLE as error:
            if isinstance(error, _OF_THE_DATABASE):
                raise
            if middle := len(objects) // 2:
                self.load(kind, objects[:middle])
                self.load(kind, objects[middle:])
            else:
                problem = f"{type(error).__name__}: {error}".partition("\n")[0]
                what = " ".join((kind.name, *map(str, objects[0][0])))
                self.unusable.append(printable(f"{what:.100} ({problem:.200})"))

    def _load(self, kind: ObjectKind, objects: Sequence[_Object]) -> None:
        objects = [(key, possible_values(kind, values)) for key, values in objects]
        named = [_named(kind, key, values) for key, values in objects if "blob" in values]
        doubted = [place for _, values in objects for place in _doubted(values)]
        self._database.write(lambda session: self._insert(session, kind, objects))
        self._staging.add_named(named)
        self._staging.add_doubted(doubted)
        self.counts[kind.name] += len(objects)

    def _insert(self, session: Session, kind: ObjectKind, objects: Sequence[_Object]) -> None:
        values = [values for _, values in objects]
        if kind.name == "version":
            values = self._with_collection(session, values)
        if contents := {one["blob"]["digest"]: one["blob"] for one in values if "blob" in one}:
            ids = insert_contents(session, contents)
            for one in values:
                one.get("file", one)["content_id"] = ids[one["blob"]["digest"]]
        if "file" in kind.joined or kind.name == "file":
            _insert_files(session, values)
        if kind.name == "file":
            _insert_tags(session, values)
        else:
            insert_new(session, kind.table, [to_row(kind.table, _without_lists(kind, one)) for one in values])
        for part, listed in kind.lists.items():
            if isinstance(listed.source, Table) and part != PLACES:  # tags have tables of their own
                _insert_list(session, listed.source, part, listed, values)

    def _with_collection(self, session: Session, versions: list[Values]) -> list[Values]:
        """Return the versions whose collection exists. The others are counted: the catalogue contradicts itself."""
        named = {one["collection_id"] for one in versions}
        there = set(session.scalars(select(Collection.id).where(Collection.id.in_(named))))
        self.counts["versions without a collection"] += sum(one["collection_id"] not in there for one in versions)
        return [one for one in versions if one["collection_id"] in there]


def _doubted(values: Values) -> Iterator[tuple[str, str]]:
    """Yield the places of a content that were known to be damaged or missing: a catalogue has that as a hint."""
    for place in values.get(PLACES, ()):
        if place["state"] in {"damaged", "missing"}:
            yield place["storage"], place["key"]
    blob = values.get("blob", {})
    if "damaged_at" in blob:  # from before there were objects
        yield blob["storage"], blob["key"]


def _named(kind: ObjectKind, key: Key, values: Values) -> MissingContent:
    """Return what is named, and where it was: a catalogue has that as a hint."""
    blob = values["blob"]
    return MissingContent(
        what=" ".join(map(str, (kind.name, *key))),
        name=values.get("file", values).get("requested_name", values.get("name", "")),
        size=blob["size"],
        digest=blob["digest"],
        storage=blob.get("storage", ""),
        key=blob.get("key", ""),
    )


def insert_contents(session: Session, contents: Mapping[str, Values]) -> dict[str, int]:
    """Insert the contents that are not there, by their digests; return the ids of all.

    Each keeps its id, unless another content has it. Before there were objects, a content had one in each storage.
    """
    wanted = [one["id"] for one in contents.values()]
    taken = or_(Content.digest.in_(contents), Content.id.in_(wanted))
    rows = session.execute(select(Content.id, Content.digest).where(taken)).all()
    ids, used = {row.digest: row.id for row in rows if row.digest in contents}, {row.id for row in rows}
    new, free = list[Values](), session.scalar(select(func.max(Content.id))) or 0
    for digest, one in contents.items():
        if digest in ids:
            continue
        row = to_row(_CONTENT, {**one, **_NO_PLANS})
        if row["id"] in used:
            row["id"] = free = max(free, *used) + 1
        ids[digest] = row["id"]
        new.append(row)
        used.add(row["id"])
    if new:
        session.connection().execute(insert(_CONTENT), new)
    return ids


def _without_lists(kind: ObjectKind, values: Values) -> Values:
    """Return the values without the lists, which have tables of their own: a column may have the name of one."""
    return {name: [] if name in kind.lists else value for name, value in values.items()}


def _insert_files(session: Session, objects: Sequence[Values]) -> None:
    """Insert the files of objects. One whose stored name was given to another file since gets a name of its own."""
    files = [one.get("file", one) for one in objects]
    names = select(File.stored_name, File.id).where(File.stored_name.in_([file["stored_name"] for file in files]))
    owners = {name: id_ for name, id_ in session.execute(names)}
    rows = []
    for one, file in zip(objects, files, strict=True):
        row = to_row(_FILE, file)
        if owners.setdefault(row["stored_name"], row["id"]) != row["id"]:
            row["stored_name"] = stored_name(one["blob"]["digest"], row["requested_name"], row["id"])
        rows.append(row)
    insert_new(session, _FILE, rows)


def add_checks(session: Session, version: Values) -> None:
    """Insert the results of checks of a version that is in the trash now."""
    entry = select(TrashEntry.id).where(TrashEntry.version_id == version["id"]).order_by(TrashEntry.id.desc())
    trash_id, table = session.scalar(entry.limit(1)), table_of(TrashCheck)
    if rows := [to_row(table, {**check, "trash_id": trash_id}) for check in version.get("checks", ())]:
        session.execute(insert(table), rows)


def insert_new(session: Session, table: Table, rows: Sequence[Values]) -> None:
    """Insert rows, except those that conflict with one that is there."""
    if not rows:
        return
    name = session.get_bind().dialect.name
    if name in {"mysql", "mariadb"}:
        session.connection().execute(insert(table).prefix_with("IGNORE"), rows)
        return
    if name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_ignoring
    else:
        from sqlalchemy.dialects.sqlite import insert as insert_ignoring  # type: ignore[assignment]
    session.connection().execute(insert_ignoring(table).on_conflict_do_nothing(), rows)


def _insert_tags(session: Session, files: Sequence[Values]) -> None:
    names = sorted({tag["name"] for file in files for tag in file.get("tags", ())})
    if not names:
        return
    known = set(session.scalars(select(Tag.name).where(Tag.name.in_(names))))
    if new := [{"name": name} for name in names if name not in known]:
        session.connection().execute(insert(_TAG), new)
    ids = {name: tag_id for name, tag_id in session.execute(select(Tag.name, Tag.id).where(Tag.name.in_(names)))}
    links = [{"file_id": file["id"], "tag_id": ids[tag["name"]]} for file in files for tag in file.get("tags", ())]
    insert_new(session, file_tag, links)


def _insert_list(session: Session, table: Table, part: str, listed: ListPart, objects: Sequence[Values]) -> None:
    rows = [{**row, listed.link: values[listed.parent]} for values in objects for row in values.get(part, ())]
    if rows and part in _NAMED:
        column, target = _NAMED[part]
        named = {row[column] for row in rows}
        there = set(session.scalars(select(target).where(target.in_(named))))
        rows = [row for row in rows if row[column] in there]
    insert_new(session, table, [to_row(table, row) for row in rows])


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
