"""The invariants I1 to I11 of docs/reliability.md, checked on a service without running requests."""

import hashlib
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select

from frepo_core.db import utc_now
from frepo_core.db.models import Base, Collection, Content, Event, File, Installation, StoredObject, TrashEntry, Version
from frepo_core.errors import BlobNotFound
from frepo_core.services.composition.container import Services
from frepo_core.services.content.held_bytes import PREFIX as HELD
from frepo_core.services.content.storages.storage_troubles import PREFIX
from frepo_core.services.upkeep.storage import OwnerMark
from support.reliability.event_replay import check_events

GRACE = timedelta(hours=48)
QUARANTINE_MAX = 2  # the default of the setting
# The kinds of events that refused and failed requests record, although they change nothing else.
ABOUT_REFUSALS = (
    *("version.refused", "upload.aborted", "collection.full"),
    *("storage.full", "storage.unavailable", "storage.recovered"),
)
EVERYTHING = 1 << 30  # more blobs than the sweep finds in any test
ALERTING = "alert_when_backup_limit_reached"
# With such a size limit, only the number of versions can make a collection full.
ROOMY = 1 << 30


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Ledger:
    """The answers that clients received and the deletions that they requested; threads may share it.

    `edited` has the collections whose limits or strategy changed meanwhile, `secrets` the texts forbidden in logs.
    `pinned` has the versions that are pinned, `quarantined` those that were quarantined and not released, and
    `released` those that were released or unpinned: younger ones may have been evicted meanwhile. `unanswered` has the
    collections with a request whose answer was lost, so that it is not known what is in quarantine.
    """

    versions: dict[tuple[str, int], str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    deleted: set[tuple[str, int]] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    restored: set[tuple[str, int]] = field(default_factory=set)
    edited: set[str] = field(default_factory=set)
    secrets: set[str] = field(default_factory=set)
    pinned: set[tuple[str, int]] = field(default_factory=set)
    quarantined: set[tuple[str, int]] = field(default_factory=set)
    released: set[tuple[str, int]] = field(default_factory=set)
    unanswered: set[str] = field(default_factory=set)
    highest: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def acknowledge(self, collection: str, number: int, content: bytes) -> None:
        """Record that a client received this content's version number."""
        with self._lock:
            assert (collection, number) not in self.versions, f"I4: {collection} gave the number {number} twice"
            self.versions[collection, number] = digest_of(content)

    def acknowledge_file(self, name: str, content: bytes) -> None:
        """Record that a client received this content's stored name."""
        with self._lock:
            assert self.files.setdefault(name, digest_of(content)) == digest_of(content), f"{name} is two contents"

    def ask_to_delete(self, collection: str, number: int) -> None:
        """Record a deletion before the request, because its answer may be lost."""
        with self._lock:
            self.deleted.add((collection, number))

    def ask_to_remove(self, name: str) -> None:
        """Record a file's deletion before the request, as above."""
        with self._lock:
            self.removed.add(name)

    def forget(self, collection: str) -> None:
        """Forget the versions of a collection that was deleted."""
        for number in [number for name, number in self.versions if name == collection]:
            del self.versions[collection, number]


@dataclass(frozen=True, kw_only=True)
class _Row:
    collection: str
    number: int
    digest: str
    size: int
    pinned: bool
    quarantined: bool
    pending: bool


def snapshot(services: Services) -> dict[str, Any]:
    """Return all rows of all tables, and all keys. What a refusal records about itself is left out."""
    queries = {table.name: select(table) for table in Base.metadata.sorted_tables}
    queries["event"] = select(Event.__table__).where(Event.kind.not_in(ABOUT_REFUSALS))
    queries["collection"] = select(*(column for column in Collection.__table__.c if column.name != "full_since"))
    queries["installation"] = select(Installation.__table__).where(Installation.name.not_like(f"{PREFIX}%"))
    with services.database.reading() as session:
        rows = {name: sorted(map(repr, session.execute(query))) for name, query in queries.items()}
    backend = services.backends.get(services.backends.current)
    return rows | {"keys": sorted(stat.key for stat in backend.list())}


def assert_unchanged(before: Mapping[str, Any], after: Mapping[str, Any], *, orphans: bool = False) -> None:
    """I6: a refused request changed nothing; `orphans`: an interrupted request may leave bytes for the sweep."""
    kept = set(before["keys"]) - set(after["keys"])
    assert not kept, f"I6: bytes are gone: {kept}"
    expected = {**before, "keys": after["keys"]} if orphans else before
    assert expected == after, "I6: a refused request changed something"


def assert_invariants(
    services: Services,
    ledger: Ledger,
    *,
    log: str = "",
    grace: timedelta = GRACE,
    swept: bool = False,
    rotten: Iterable[str] = (),
) -> None:
    """Check I1 to I5 and I7 to I11; I6 is `assert_unchanged`. `swept`: after a restart and a sweep without grace.

    `rotten` contains the digests of contents that the test damaged.
    """
    rotten = set(rotten)
    good = _check_bytes(services, timedelta(0) if swept else grace, rotten, swept=swept)
    with services.database.reading() as session:
        collections = session.scalars(select(Collection)).all()
        query = select(Version, Content.digest, Content.size).join(Version.file).join(File.blob)
        rows = [
            _Row(
                collection=row.collection_id,
                number=row.number,
                digest=digest,
                size=size,
                pinned=row.pinned,
                quarantined=row.quarantined_at is not None,
                pending=row.pending_since is not None,
            )
            for row, digest, size in session.execute(query.order_by(Version.number))
        ]
        files = dict(session.execute(select(File.stored_name, Content.digest).join(File.blob)).all())
        kinds = session.execute(select(File.kind, Version.id).outerjoin(Version, Version.file_id == File.id)).all()
    assert all((kind == "version") == (version is not None) for kind, version in kinds), "I3: a version's file is alone"
    by_collection = defaultdict(list)
    for row in rows:
        by_collection[row.collection].append(row)
    for collection in collections:
        _check_collection(collection, by_collection[collection.id], ledger)
        _check_versions(collection, by_collection[collection.id], ledger, good | rotten)
    _check_trash(services, ledger, by_collection, good | rotten)
    for name in ledger.files.keys() - ledger.removed:
        assert files.get(name) == ledger.files[name], f"I1: the file {name} is gone, or another"
        assert ledger.files[name] in good | rotten, f"I1: the file {name} does not download as acknowledged"
    if swept:
        _check_leftovers(services)
    check_events(services)
    shown = [secret for secret in ledger.secrets if secret and secret in log]
    assert not shown, f"I8: the log shows {len(shown)} secrets"


def _check_bytes(services: Services, grace: timedelta, rotten: set[str], *, swept: bool) -> set[str]:
    """I2: return the digests whose bytes were read and are correct."""
    with services.database.reading() as session:
        objects = session.scalars(select(StoredObject).where(StoredObject.key.is_not(None))).all()
        contents = set(session.scalars(select(Content.id)))
        used = {*session.scalars(select(File.content_id)), *session.scalars(select(TrashEntry.content_id))}
    good = set()
    for blob in objects:
        if blob.slot is None:
            continue
        try:
            with services.backends.get(blob.storage).open(blob.key) as content:
                found = digest_of(content.read())
        except BlobNotFound:
            found = "nothing"
        if found == blob.digest:
            good.add(blob.digest)
        else:
            assert blob.digest in rotten, f"I2: the row {blob.id} has no bytes of its own: {found}"
    if swept:
        assert contents == used, "I2: rows that nobody uses outlived the sweep"
    backend = services.backends.get(services.backends.current)
    oldest, known = utc_now() - grace, {blob.key for blob in objects}
    of_frepo = ("journal/", "catalogue/")
    stats = [stat for stat in backend.list() if OwnerMark.parse(stat.key) is None and not stat.key.startswith(of_frepo)]
    keys = {stat.key: stat.modified for stat in stats}
    orphans = [key for key, modified in keys.items() if key not in known and (swept or modified < oldest)]
    assert not orphans, f"I2: bytes without a row: {orphans}"
    return good


def _check_collection(collection: Collection, rows: list[_Row], ledger: Ledger) -> None:
    numbers = [row.number for row in rows]
    quarantined, pending = [row for row in rows if row.quarantined], [row for row in rows if row.pending]
    counted = [row for row in rows if not row.quarantined and not row.pending]
    pinned = [row for row in counted if row.pinned]
    for kind, found, count, size in (
        ("", counted, collection.versions_count, collection.stored_size),
        (" of pinned versions", pinned, collection.pinned_count, collection.pinned_size),
        (" of quarantined versions", quarantined, collection.quarantined_count, collection.quarantined_size),
        (" of pending versions", pending, collection.pending_count, collection.pending_size),
    ):
        assert len(found) == count, f"I3: the count{kind} is not that of the rows"
        assert sum(row.size for row in found) == size, f"I3: the size{kind} is not that of the rows"
    assert len(quarantined) <= QUARANTINE_MAX, "I3: more versions in quarantine than allowed"
    assert not any(row.pinned or row.pending for row in quarantined), "I3: a version in quarantine is pinned or pending"
    rows = counted
    assert len(set(numbers)) == len(numbers), "I4: a number is there twice"
    assert max([0, *numbers]) <= collection.last_number, "I4: a number is ahead of its counter"
    assert collection.last_number >= ledger.highest[collection.id], "I4: the counter went back"
    ledger.highest[collection.id] = collection.last_number
    given = [number for name, number in ledger.versions if name == collection.id]
    assert max([0, *given]) <= collection.last_number, "I4: an acknowledged number will be used again"
    if collection.id in ledger.edited:
        return
    count, total = collection.max_backups_count, collection.max_collection_size
    assert not count or len(rows) <= count, f"I3: {len(rows)} versions where {count} are allowed"
    assert not total or collection.stored_size <= total, "I3: more bytes than the collection may have"
    one = collection.max_one_version_size
    assert not one or all(row.size <= one for row in rows), "I3: a version is larger than one may be"


def _check_versions(collection: Collection, rows: list[_Row], ledger: Ledger, good: set[str]) -> None:
    """Check I1 and I5, and that rotation deleted the oldest versions, and only as many as necessary."""
    present = {row.number: row for row in rows}
    for name, number in ledger.pinned:
        if name == collection.id:
            assert number in present and present[number].pinned, f"I10: the pinned version {number} is gone"
    quarantined = {number for name, number in ledger.quarantined if name == collection.id}
    released = {number for name, number in ledger.released if name == collection.id}
    restored = {number for name, number in ledger.restored if name == collection.id}
    # Those that rotation may evict, in this order. A released one may be older than one that was evicted for it.
    # The answer about a quarantined one may have been lost, so the ledger may not know it.
    guarded = {row.number for row in rows if row.pinned or row.quarantined or row.pending}
    rotating = [row.number for row in rows if row.number not in guarded | quarantined | released | restored]
    deleted = {number for name, number in ledger.deleted if name == collection.id}
    for (name, number), digest in ledger.versions.items():
        if name != collection.id:
            continue
        if number in present:
            assert present[number].digest == digest, f"I1: version {number} is not what was acknowledged"
            assert digest in good, f"I1: version {number} does not download"
        elif number in quarantined - deleted:
            newer = [each for each in quarantined | released if each > number]  # when it left
            is_surplus = len(newer) >= QUARANTINE_MAX or collection.id in ledger.unanswered
            assert is_surplus, f"I1: the quarantined version {number} was lost"
        elif number not in deleted:
            newer_came = collection.last_number > number
            assert newer_came and min(rotating, default=number + 1) > number, f"I1: version {number} was lost"
    if collection.last_number and collection.last_number not in deleted:  # rotation never deletes the newest
        assert any(row.digest in good for row in rows), "I5: no good version remains"
    if collection.id in ledger.edited:
        return
    count, total = collection.max_backups_count, collection.max_collection_size
    added, remaining = collection.last_number - len(quarantined), len([row for row in rows if not row.quarantined])
    if collection.strategy == ALERTING:
        assert remaining >= added - len(deleted), "I1: a version left that nobody deleted"
    elif not total or total >= ROOMY:
        wanted = min(count or added, added) - len(deleted)
        assert remaining >= wanted, f"I1: {remaining} versions remain of {wanted} that need not have left"


def _check_trash(services: Services, ledger: Ledger, present: Mapping[str, list[_Row]], good: set[str]) -> None:
    """Check that what was evicted or deleted can be restored in time, unless an event says that it ended."""
    with services.database.reading() as session:
        entries = session.execute(select(TrashEntry.collection_id, TrashEntry.number, TrashEntry.digest)).all()
        ends = select(Event.collection_id, Event.version_number).where(Event.kind == "trash.ended")
        ended = {tuple(row) for row in session.execute(ends)}
    trash = {(collection, number): digest for collection, number, digest in entries}
    there = {(row.collection, row.number) for rows in present.values() for row in rows}
    assert not trash.keys() & there, "I11: a version is in its collection and in the trash"
    if not services.settings.trash_keep:
        return
    for key, digest in ledger.versions.items():
        if key not in there and key not in ended:
            assert trash.get(key) == digest, f"I11: {key} cannot be restored"
            assert digest in good, f"I11: {key} is in the trash without its bytes"


def _check_leftovers(services: Services) -> None:
    """I7: search for temporary files, in the temporary folder and next to the blobs.

    Not for the numbers of bytes that processes hold: the next process deletes those of a killed one, after a minute.
    """
    roots: list[Path] = [services.settings.temp_directory] if services.settings.temp_directory else []
    found = [path for root in roots for path in root.rglob("*") if path.is_file() and not path.name.startswith(HELD)]
    directory = getattr(getattr(services.backends.get("local"), "_settings", None), "directory", None)
    found += [path for path in Path(directory).rglob(".*") if path.is_file()] if directory else []
    assert not found, f"I7: temporary files outlived restart and sweep: {[os.fspath(path) for path in found]}"


def eventually(look: Callable[[], bool], seconds: float = 60) -> bool:
    """Repeat the check until it succeeds, for some seconds at most."""
    waited = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if look():
            return True
        waited.wait(0.02)
    return look()
