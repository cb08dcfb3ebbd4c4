"""Inserts the objects of a catalogue and of the journal into the tables, in batches that can be repeated."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Table, insert, select
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

from ...content.chains.chain_places import RAW
from ..journal.json_rows import Values, to_row
from ..journal.objects import ObjectKind, table_of
from .found_objects import FoundObjects
from .staging import Key, MissingContent, Staging, StoredBlob

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
# Those of a content that is not encoded.
RAW_COLUMNS: Values = {"encoding": RAW, "stored_size": None, "stored_digest": None, "base_id": None}
_Object = tuple[Key, Values]
_Name = tuple[str, str]  # storage and digest: a content is stored once in each storage


class RowLoader:
    """Inserts objects. What is in the database already stays, so a recovery that was stopped can be repeated.

    `counts` are the numbers of objects by kind, `found_in` the storages in which contents were found.
    """

    def __init__(self, database: Database, staging: Staging, found: FoundObjects, storage: str) -> None:
        """`storage` is the one that the database is recovered from: it is preferred for each content."""
        self._database = database
        self._staging = staging
        self._found = found
        self._storage = storage
        self.counts: Counter[str] = Counter()
        self.missing = 0
        self.found_in: set[str] = set()

    def load(self, kind: ObjectKind, objects: Sequence[_Object]) -> None:
        """Insert objects of one kind in one transaction."""
        blobs = self._place_blobs(kind, objects)
        self._database.write(lambda session: self._insert(session, kind, objects, blobs))
        self.counts[kind.name] += len(objects)

    def _insert(
        self, session: Session, kind: ObjectKind, objects: Sequence[_Object], blobs: Mapping[_Name, Values]
    ) -> None:
        values = [values for _, values in objects]
        if kind.name == "version":
            values = self._with_collection(session, values)
        if blobs:
            ids = self._insert_blobs(session, blobs)
            for one in values:
                one.get("file", one)["blob_id"] = ids[_name(one["blob"])]
        if "file" in kind.joined:
            insert_new(session, _FILE, [to_row(_FILE, one["file"]) for one in values])
        insert_new(session, kind.table, [to_row(kind.table, one) for one in values])
        if kind.name == "file":
            _insert_tags(session, values)
        for part in kind.lists:
            if (kind.name, part) in _LISTS:
                _insert_list(session, kind.name, part, values)

    def _with_collection(self, session: Session, versions: list[Values]) -> list[Values]:
        """Return the versions whose collection exists. The others are counted: the catalogue contradicts itself."""
        named = {one["collection_id"] for one in versions}
        there = set(session.scalars(select(Collection.id).where(Collection.id.in_(named))))
        self.counts["versions without a collection"] += sum(one["collection_id"] not in there for one in versions)
        return [one for one in versions if one["collection_id"] in there]

    def _insert_blobs(self, session: Session, blobs: Mapping[_Name, Values]) -> dict[_Name, int]:
        table = table_of(Blob)
        insert_new(session, table, [to_row(table, one) for one in blobs.values()])
        digests = [digest for _, digest in blobs]
        query = select(Blob.storage, Blob.digest, Blob.id).where(Blob.digest.in_(digests))
        ids = {(storage, digest): blob_id for storage, digest, blob_id in session.execute(query)}
        return {name: ids[_name(placed)] for name, placed in blobs.items()}

    def _place_blobs(self, kind: ObjectKind, objects: Sequence[_Object]) -> dict[_Name, Values]:
        """Return the rows of the contents by their old storages and digests, with the places at which they are now."""
        named = {_name(values["blob"]): values["blob"] for _, values in objects if "blob" in values}
        located = self._staging.locate([digest for _, digest in named]) if named else {}
        places = {name: self._choose(blob, located.get(name[1], ())) for name, blob in named.items()}
        for key, values in objects:
            if "blob" in values and places[_name(values["blob"])] is None:
                self._note_missing(kind, key, values)
        self.found_in |= {place.storage for place in places.values() if place}
        return {name: self._placed(blob, places[name]) for name, blob in named.items()}

    def _placed(self, blob: Values, place: StoredBlob | None) -> Values:
        """Return the row of a content at its place; one that is nowhere is damaged, so an upload of it stores it again.

        The row of a base is named after all rows are there.
        """
        if place is None:
            return {"damaged_at": utc_now().isoformat()} | blob | RAW_COLUMNS
        more = RAW_COLUMNS if place.size == blob["size"] else self._found.describe(place, blob["digest"]) or RAW_COLUMNS
        return blob | {"storage": place.storage, "key": place.key} | more

    def _choose(self, blob: Values, places: Iterable[StoredBlob]) -> StoredBlob | None:
        """Return the place of a content: the old one if it is still there, else one in the storage of the recovery."""
        sound = [
            place
            for place in places
            if place.size == blob["size"] or self._found.read_head(place, blob["digest"]) is not None
        ]
        old = blob["storage"], blob["key"]
        return max(
            sound, key=lambda place: ((place.storage, place.key) == old, place.storage == self._storage), default=None
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
