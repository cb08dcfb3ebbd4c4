"""Inserts the objects of a catalogue and of the journal into the tables, in batches that can be repeated."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Table, insert, or_, select
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import (
    Blob,
    Collection,
    CollectionToken,
    DeletedCollectionToken,
    EnrolmentCollection,
    File,
    Tag,
    Token,
    TrashCheck,
    VersionCheck,
    file_tag,
)
from frepo_core.domain.naming import printable, stored_name

from ..journal.json_rows import Values, to_row
from ..journal.objects import ObjectKind, table_of
from .found_objects import RAW_COLUMNS, FoundObjects, next_blob_id
from .object_levels import ELSEWHERE, FoundObject, ObjectLevels
from .staging import Key, MissingContent, Staging

_FILE, _TAG = table_of(File), table_of(Tag)
_TOKENS, _COLLECTIONS = table_of(Token).c.key, table_of(Collection).c.id
# The tables of the lists in objects: table, column of the object's value, and that value.
_LISTS: Mapping[tuple[str, str], tuple[Table, str, str]] = {
    ("collection", "tokens"): (table_of(CollectionToken), "collection_id", "id"),
    ("deleted_collection", "tokens"): (table_of(DeletedCollectionToken), "incarnation", "incarnation"),
    ("enrolment_code", "collections"): (table_of(EnrolmentCollection), "code_id", "id"),
    ("version", "checks"): (table_of(VersionCheck), "version_id", "id"),
    ("trash", "checks"): (table_of(TrashCheck), "trash_id", "id"),
}
# What a row of a list names, and may have been deleted since the list was written.
_NAMED: Mapping[str, tuple[str, Column[Any]]] = {
    "tokens": ("token_key", _TOKENS),
    "collections": ("collection_id", _COLLECTIONS),
}
_Object = tuple[Key, Values]
# What an object with impossible values ends in.
_UNUSABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    DataError,
    IntegrityError,
    ProgrammingError,
)
_Name = tuple[str, str]  # storage and digest: a content is stored once in each storage


class RowLoader:
    """Inserts objects. What is in the database already stays, so a recovery that was stopped can be repeated.

    `counts` are the numbers of objects by kind, `found_in` the storages in which contents were found, and `unusable`
    says of which objects no rows can be made, and why.
    """

    def __init__(
        self, database: Database, staging: Staging, levels: ObjectLevels, found: FoundObjects, storage: str
    ) -> None:
        """`storage` is the one that the database is recovered from: it is preferred for each content."""
        self._database = database
        self._staging = staging
        self._levels = levels
        self._found = found
        self._storage = storage
        self.counts: Counter[str] = Counter()
        self.missing = 0
        self.unusable: list[str] = []
        self.found_in: set[str] = set()

    def load(self, kind: ObjectKind, objects: Sequence[_Object]) -> None:
        """Insert objects of one kind. One that no row can be made of is passed over, and named in `unusable`."""
        try:
            self._load(kind, objects)
        except _UNUSABLE as error:
            if middle := len(objects) // 2:
                self.load(kind, objects[:middle])
                self.load(kind, objects[middle:])
            else:
                problem = f"{type(error).__name__}: {error}".partition("\n")[0]
                what = " ".join((kind.name, *map(str, objects[0][0])))
                self.unusable.append(printable(f"{what:.100} ({problem:.200})"))

    def _load(self, kind: ObjectKind, objects: Sequence[_Object]) -> None:
        places = self._find_places(objects)
        blobs = {name: self._placed(blob, place) for name, (blob, place) in places.items()}
        self._database.write(lambda session: self._insert(session, kind, objects, blobs))
        for key, values in objects:
            if "blob" in values and not _is_readable(places[_name(values["blob"])][1]):
                self._note_missing(kind, key, values)
        self.found_in |= {place.place.storage for _, place in places.values() if place}
        self.counts[kind.name] += len(objects)

    def _insert(
        self, session: Session, kind: ObjectKind, objects: Sequence[_Object], blobs: Mapping[_Name, Values]
    ) -> None:
        values = [values for _, values in objects]
        if kind.name == "version":
            values = self._with_collection(session, values)
        if blobs:
            ids = _insert_blobs(session, blobs)
            for one in values:
                one.get("file", one)["blob_id"] = ids[_name(one["blob"])]
        if "file" in kind.joined or kind.name == "file":
            _insert_files(session, values)
        if kind.name == "file":
            _insert_tags(session, values)
        else:
            insert_new(session, kind.table, [to_row(kind.table, _without_lists(kind, one)) for one in values])
        for part in kind.lists:
            if (kind.name, part) in _LISTS:
                _insert_list(session, kind.name, part, values)

    def _with_collection(self, session: Session, versions: list[Values]) -> list[Values]:
        """Return the versions whose collection exists. The others are counted: the catalogue contradicts itself."""
        named = {one["collection_id"] for one in versions}
        there = set(session.scalars(select(Collection.id).where(Collection.id.in_(named))))
        self.counts["versions without a collection"] += sum(one["collection_id"] not in there for one in versions)
        return [one for one in versions if one["collection_id"] in there]

    def _find_places(self, objects: Sequence[_Object]) -> dict[_Name, tuple[Values, FoundObject | None]]:
        """Return the records of the contents, by their old storages and digests, and where the contents are now."""
        named = {_name(values["blob"]): values["blob"] for _, values in objects if "blob" in values}
        found = self._levels.find({digest: blob["size"] for (_, digest), blob in named.items()}) if named else {}
        return {name: (blob, self._choose(blob, found[name[1]])) for name, blob in named.items()}

    def _placed(self, blob: Values, found: FoundObject | None) -> Values:
        """Return the row of a content at its place; one that is nowhere is damaged, so an upload of it stores it again.

        The row of a base is named after all rows are there.
        """
        if found is None:
            return {"damaged_at": utc_now().isoformat()} | blob | RAW_COLUMNS
        state = {} if _is_recorded(blob, found) else {"damaged_at": None, "verified_at": None}
        place = {"storage": found.place.storage, "key": found.place.key}
        return blob | state | place | self._found.describe(found)

    def _choose(self, blob: Values, objects: Iterable[FoundObject]) -> FoundObject | None:
        """Return the object that a content is read from.

        In each storage, that is the one that needs the fewest others: no two rows need each other then. Between
        storages, one that can be decoded is preferred, then the recorded one, then that of the recovery.
        """

        def is_damaged(found: FoundObject) -> bool:
            return "damaged_at" in blob and _is_recorded(blob, found)

        best: dict[str, FoundObject] = {}
        for found in sorted(objects, key=lambda one: (one.level, is_damaged(one), not _is_recorded(blob, one))):
            best.setdefault(found.place.storage, found)
        return min(
            best.values(),
            key=lambda one: (
                max(one.level, ELSEWHERE - 1),
                is_damaged(one),
                one.place.storage != blob["storage"],
                one.place.storage != self._storage,
            ),
            default=None,
        )

    def _note_missing(self, kind: ObjectKind, key: Key, values: Values) -> None:
        blob = values["blob"]
        self.missing += 1
        self._staging.add_missing(
            MissingContent(
                what=" ".join(map(str, (kind.name, *key))),
                name=values.get("file", values).get("requested_name", values.get("name", "")),
                size=blob["size"],
                digest=blob["digest"],
                storage=blob["storage"],
                key=blob["key"],
            )
        )


def _name(blob: Values) -> _Name:
    return blob["storage"], blob["digest"]


def _without_lists(kind: ObjectKind, values: Values) -> Values:
    """Return the values without the lists, which have tables of their own: a column may have the name of one."""
    return {name: [] if name in kind.lists else value for name, value in values.items()}


def _is_readable(found: FoundObject | None) -> bool:
    return found is not None and found.is_decodable


def _is_recorded(blob: Values, found: FoundObject) -> bool:
    return (found.place.storage, found.place.key) == (blob["storage"], blob["key"])


def _insert_blobs(session: Session, blobs: Mapping[_Name, Values]) -> dict[_Name, int]:
    """Insert the rows of contents; return their ids. One that was moved between two records has a row already."""
    table, ids, new = table_of(Blob), dict[_Name, int](), list[Values]()
    taken = or_(Blob.digest.in_([digest for _, digest in blobs]), Blob.id.in_([one["id"] for one in blobs.values()]))
    rows = session.execute(select(Blob.id, Blob.digest, Blob.storage, Blob.key).where(taken)).all()
    digests = {row.id: row.digest for row in rows}
    there: dict[Any, int] = {row.key: row.id for row in rows} | {(row.storage, row.digest): row.id for row in rows}
    for name, placed in blobs.items():
        row, own = to_row(table, placed), placed["id"]
        id_ = own if digests.get(own) == row["digest"] else there.get(_name(row), there.get(row["key"]))
        if id_ is None and own in digests:
            row["id"] = own = max(next_blob_id(session), max(digests) + 1)
        if id_ is None:
            id_ = own
            new.append(row)
        digests[id_], there[_name(row)], there[row["key"]], ids[name] = row["digest"], id_, id_, id_
    if new:
        session.connection().execute(insert(table), new)
    return ids


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


def _insert_list(session: Session, kind: str, part: str, objects: Sequence[Values]) -> None:
    table, link, parent = _LISTS[kind, part]
    rows = [{**row, link: values[parent]} for values in objects for row in values.get(part, ())]
    if rows and part in _NAMED:
        column, target = _NAMED[part]
        named = {row[column] for row in rows}
        there = set(session.scalars(select(target).where(target.in_(named))))
        rows = [row for row in rows if row[column] in there]
    insert_new(session, table, [to_row(table, row) for row in rows])
