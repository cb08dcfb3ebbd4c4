"""Reads back what a database lacks and a storage still has. Lost versions come back through the trash."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Self

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import (
    Collection,
    CollectionToken,
    Content,
    DeletedCollection,
    Event,
    Token,
    TrashEntry,
    Version,
)
from frepo_core.db.row_inserts import insert_of, insert_rows
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.errors import RestoreConflictError
from frepo_core.services.backups.rows.counters import COUNTERS
from frepo_core.services.backups.rows.removal import TrashReason, incarnation_of
from frepo_core.services.backups.trash.trash import Trash
from frepo_core.services.base.batches import batches
from frepo_core.services.base.installation import ensure_id
from frepo_core.services.base.temporary_folder import TemporaryFolder
from frepo_core.services.content.objects.gate import lock_contents
from frepo_core.services.content.objects.settlement import Settlement
from frepo_core.services.content.objects.wishes import compare_again
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.events.actors import actor_of
from frepo_core.services.events.facts import collection_event
from frepo_core.services.events.recording import record
from frepo_core.services.upkeep.reconcile.reconciliation import Reconciliation
from frepo_core.services.upkeep.reconcile.staging import Listing, Notes, list_storage

from .first_epoch import find_first_epoch
from .journal.journal import Journal
from .journal.json_rows import Values, to_row
from .journal.objects import ObjectKind, table_of
from .journal.seals import JournalSeals
from .lost_contents import find_lost
from .merged_kinds import add_missing, find_recorded, hold_again
from .replayed_evictions import make_room, set_as_it_was
from .row_loading import RowLoader, add_checks, insert_new
from .sound_objects import SoundObjects, has_sound_object
from .sources import Source, SourceFiles, find_source, list_others
from .staging import Key, RecoveryStaging

log = logging.getLogger(__name__)

BATCH = 500
KEPT_FOR = timedelta(days=30)
_TRASH = insert_of(TrashEntry)
_Lost = tuple[Key, Values]


@dataclass(kw_only=True)
class MergeReport:
    """What was read back: collections, versions, versions that are in the trash, and what is in no storage any more.

    `holds` and `choices` are those of collections: that they are on hold, and how they are restore-tested. `unusable`
    are objects with impossible values. `trash` is the number of versions that were in the trash then, too.
    `found_elsewhere` is that of the contents that the database knows and whose bytes were found in another place.
    """

    collections: int = 0
    versions: int = 0
    trash: int = 0
    holds: int = 0
    choices: int = 0
    unusable: Sequence[str] = ()
    found_elsewhere: int = 0
    in_trash: list[Key] = field(default_factory=list)
    missing: list[Key] = field(default_factory=list)
    missing_files: list[str] = field(default_factory=list)


class Merge:
    """Use it in a `with` statement: it keeps files in a folder of its own."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        trash: Trash,
        journal: Journal,
        seals: JournalSeals | None,
        storage: str,
        kinds: Sequence[ObjectKind],
        folder: str | None,
        notes: Notes,
        *,
        at: datetime | None = None,
    ) -> None:
        """`at` is the time whose state is looked at; None: before the storage was adopted. `seals`: see `Recovery`."""
        self._database = database
        self._backends = backends
        self._trash = trash
        self._journal = journal
        self._seals = seals
        self._storage = storage
        self._kinds = {kind.name: kind for kind in kinds}
        self._notes = notes
        self._at = at
        self._sound = SoundObjects(database, backends)
        self._listed: dict[str, Listing] = {}
        self._folder = TemporaryFolder("frepo-merge-", folder)
        self._staging = RecoveryStaging(self._folder.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._staging.close()
        self._folder.close()

    def find(self) -> Source:
        """Read the state before the adoption, or at the time. Raises `RecoveryError` if no catalogue has it."""
        backend = self._backends.get(self._storage)
        listing = list_storage(backend, self._storage, self._staging, self._notes)
        problems, keys = list[str](), listing.keys
        others = list_others(self._backends, [self._storage], self._staging, self._notes, problems)
        self._listed = {self._storage: listing, **others}
        self._staging.index_stored()
        if self._at is None:
            epoch = find_first_epoch(self._database, self._backends, self._journal, self._storage, keys)
            keys = [key for key in keys if key.epoch < epoch]
        else:
            keys = [key for key in keys if key.made_at is None or key.made_at <= self._at]
        files = SourceFiles(backend, self._storage, self._folder.path, self._seals, self._notes, problems)
        return find_source(files, keys, self._staging, until=self._at)

    def run(self, source: Source, *, by: By) -> MergeReport:
        """Read back what is lost. May be repeated: what is there already stays.

        The records of where contents are may be as old as the database, so they are reconciled at first.
        """
        report = MergeReport()
        reconciliation = Reconciliation(self._database, self._backends, self._staging, notes=self._notes)
        own = ensure_id(self._database)
        owned = {storage for storage, listing in self._listed.items() if own in listing.owners}
        report.found_elsewhere = reconciliation.run(self._listed, owned=owned).current
        if self._at is None:
            with self._database.reading() as session:
                report.missing, report.missing_files = find_lost(session)
        for batch in batches(self._states(source, "collection"), BATCH):
            report.collections += self._add_collections(batch, by)
            report.holds += hold_again(self._database, batch, by) if self._at is None else 0
        if self._at is None:
            kind, loader = self._kinds["restore_choice"], RowLoader(self._database, self._staging)
            report.choices = add_missing(self._database, loader, kind, self._states(source, kind.name))
            report.unusable = loader.unusable
        for batch in batches(self._states(source, "version"), BATCH):
            self._staging.add_present(key for key, _ in batch)
        for batch in batches(self._states(source, "version"), BATCH):
            self._add_versions(batch, report, by)
        if self._at is None:
            for batch in batches(self._states(source, "trash"), BATCH):
                self._add_trash([(key, _as_version(values)) for key, values in batch], report, by)
        compare_again(self._database)  # what was read back may have one copy only
        return report

    def _states(self, source: Source, kind: str) -> Iterator[_Lost]:
        """Yield the objects of a kind that existed then: those of the journal, and the others of the catalogue."""
        yield from self._staging.changed(kind)
        lines = ((key, state) for name, key, state in source.file.objects() if name == kind)
        for batch in batches(lines, BATCH):
            changed = self._staging.find_changed(kind, [key for key, _ in batch])
            yield from ((key, values) for key, state in batch if key not in changed for values in state)

    def _add_collections(self, found: Sequence[_Lost], by: By) -> int:
        """Add the collections that the database does not know, without versions."""

        def work(session: Session) -> int:
            ids = [key[0] for key, _ in found]
            known = set(session.scalars(select(Collection.id).where(Collection.id.in_(ids))))
            deleted = select(DeletedCollection.collection_id).where(DeletedCollection.collection_id.in_(ids))
            known |= set(session.scalars(deleted))
            if self._at is None:
                known |= find_recorded(session, EventKind.COLLECTION_CREATED, ids)
            lost = [values for (one,), values in found if one not in known]
            rows = [values | dict.fromkeys(COUNTERS, 0) for values in lost]
            insert_new(session, table_of(Collection), [to_row(table_of(Collection), row) for row in rows])
            for values in lost:
                tokens = [token["token_key"] for token in values.get("tokens", ())]
                there = session.scalars(select(Token.key).where(Token.key.in_(tokens)))
                session.add_all(CollectionToken(collection_id=values["id"], token_key=key) for key in there)
                event = collection_event(EventKind.COLLECTION_RESTORED, values["id"], by=by, versions=0)
                record(session, event)
            return len(lost)

        return self._database.write(work)

    def _add_versions(self, found: Sequence[_Lost], report: MergeReport, by: By) -> None:
        """Add the versions that the database lacks to the trash, and restore them if they were lost by the database."""
        with self._database.reading() as session:
            lost = self._without_known(session, found)
        for key, values in lost:
            number = self._add_sound(values, by)
            if number is None:
                report.missing.append(key)
            elif self._at is None and self._restore(values, number, by):
                report.versions += 1
            else:
                report.in_trash.append((key[0], number))
            self._notes(f"{report.versions} versions, {len(report.in_trash)} in the trash")

    def _add_trash(self, found: Sequence[_Lost], report: MergeReport, by: By) -> None:
        """Add to the trash what came after the backup, and was in the trash already."""
        with self._database.reading() as session:
            lost = self._without_known(session, found)
        for key, values in lost:
            if self._add_sound(values, by) is None:
                report.missing.append(key)
            else:
                report.trash += 1

    def _add_sound(self, version: Values, by: By) -> int | None:
        """Add a version to the trash, and return its number; None if its bytes cannot be had."""
        is_sound = self._sound.has(version["blob"]["digest"], self._storage)
        return self._database.write(partial(self._add, version, by)) if is_sound else None

    def _restore(self, version: Values, number: int, by: By) -> bool:
        collection = version["collection_id"]
        stayed = self._staging.find_present(collection)
        try:
            self._trash.restore(
                collection, number, by=by, make_room=partial(make_room, stayed=stayed, keep=KEPT_FOR, by=by)
            )
        except RestoreConflictError:
            return False
        self._database.write(partial(set_as_it_was, version, by))
        return True

    def _without_known(self, session: Session, found: Sequence[_Lost]) -> list[_Lost]:
        """Return the versions of known collections that are neither there nor in the trash, and were never known."""
        named = {key[0] for key, _ in found}
        collections = set(session.scalars(select(Collection.id).where(Collection.id.in_(named))))
        ids = [values["id"] for _, values in found]
        known = set(session.scalars(select(Version.id).where(Version.id.in_(ids))))
        left = [one for one in found if one[0][0] in collections and one[1]["id"] not in known]
        if left and self._at is None:
            recorded = self._find_recorded(session, [key for key, _ in left])
            left = [one for one in left if (*one[0], one[1]["blob"]["digest"]) not in recorded]
        ids = [values["id"] for _, values in left]
        in_trash = set(session.scalars(select(TrashEntry.version_id).where(TrashEntry.version_id.in_(ids))))
        return [one for one in left if one[1]["id"] not in in_trash]

    @staticmethod
    def _find_recorded(session: Session, keys: Sequence[Key]) -> set[Key]:
        """Return the versions, with their digests, that were added to this database: it has removed them itself."""
        added = select(Event.collection_id, Event.version_number, Event.data)
        added = added.where(
            Event.kind == EventKind.VERSION_ADDED.value, Event.collection_id.in_({key[0] for key in keys})
        )
        rows = session.execute(added.where(tuple_(Event.collection_id, Event.version_number).in_(keys)))
        return {(collection, number, data.get("sha256")) for collection, number, data in rows}

    def _add(self, version: Values, by: By, session: Session) -> int | None:
        """Insert a version into the trash; return its number, None if its bytes cannot be had.

        If its number was used again since, it gets the next one.
        """
        blob = version["blob"]
        content_id = session.scalar(select(Content.id).where(Content.digest == blob["digest"]))
        content = lock_contents(session, [content_id]).get(content_id) if content_id is not None else None
        collection = session.get(Collection, version["collection_id"], with_for_update=True)
        if content is None or collection is None or not has_sound_object(session, content.id):
            return None
        content.mime, content.checksum = blob["mime"], blob.get("checksum") or content.checksum
        now = utc_now()
        number = version["number"] if _is_free(session, collection, version["number"]) else collection.last_number + 1
        table = table_of(TrashEntry)
        values = {name: value for name, value in version.items() if name in table.columns}
        own = {
            "incarnation": incarnation_of(collection),
            "number": number,
            "content_id": content.id,
            "size": version["blob"]["size"],
            "digest": version["blob"]["digest"],
            "reason": version.get("reason", TrashReason.DELETED.value),
            "evicted_by": version.get("evicted_by", actor_of(by)),
            "version_id": version["id"],
            "name": version["file"]["requested_name"],
            "password_hash": version["file"].get("password_hash"),
            "checks": [],
        }
        times = {"evicted_at": now.isoformat(), "ends_at": (now + KEPT_FOR).isoformat()}
        row = to_row(table, {**values, **own, **times, "id": 0})
        del row["id"]
        insert_rows(session, _TRASH, [row])
        session.flush()
        add_checks(session, version)
        Settlement(self._database, self._backends).settle([content.id], KEPT_FOR, session)
        collection.last_number = max(collection.last_number, number)
        return int(number)


def _as_version(entry: Values) -> Values:
    """Return the state of a version in the trash as that of a version."""
    file = {"requested_name": entry["name"], "password_hash": entry.get("password_hash")}
    return {**entry, "id": entry["version_id"], "file": file}


def _is_free(session: Session, collection: Collection, number: int) -> bool:
    """Return whether no version and no entry of the trash has this number."""
    version = select(Version.id).where(Version.collection_id == collection.id, Version.number == number)
    trashed = select(TrashEntry.id).where(
        TrashEntry.incarnation == incarnation_of(collection), TrashEntry.number == number
    )
    return session.scalar(version) is None and session.scalar(trashed.limit(1)) is None
