"""Finds in a storage what a database can be recovered from: a whole catalogue, and the journal after it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.errors import FrepoError, StorageError
from frepo_core.plugins import BlobStat, StorageBackend

from ...content.storages.backends import Backends
from ...content.storages.owner_mark import OwnerMark
from ..journal.journal_files import JournalDamagedError, JournalFile
from ..journal.keys import JournalKey
from ..storage.progress import batches
from .staging import Staging

Notes = Callable[[str], None]
_BATCH = 1000
_PIECE = 1 << 20


class RecoveryError(FrepoError):
    """Nothing can be recovered, or not into this database. The message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a database is recovered from.

    `last` is the key of the last part of the journal, or the catalogue. `reaches` is the time up to which it has
    everything (UTC, by the clock of the old machine). `problems` are sentences about what is damaged or missing in
    between. `database` is the id of the old database.
    """

    storage: str
    catalogue: JournalKey
    last: JournalKey
    file: JournalFile
    objects: int
    parts: int
    reaches: datetime
    database: str
    schema: str
    problems: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The keys of the journal and the catalogues in a storage, and the ids of the databases that have a mark there."""

    keys: list[JournalKey]
    owners: set[str]


def list_storage(backend: StorageBackend, storage: str, staging: Staging, notes: Notes) -> Listing:
    """List a storage once, and note its blobs."""
    keys, owners, done = list[JournalKey](), set[str](), 0

    def blobs(stats: list[BlobStat]) -> Iterator[tuple[str, str, int]]:
        for stat in stats:
            if key := JournalKey.parse(stat.key):
                keys.append(key)
            elif mark := OwnerMark.parse(stat.key):
                owners.add(mark.database)
            elif digest := parse_digest_in_key(stat.key):
                yield digest, stat.key, stat.size

    for batch in batches(backend.list(), _BATCH):
        staging.add_stored(storage, blobs(batch))
        done += len(batch)
        notes(f"{storage}: {done} objects listed")
    return Listing(keys=keys, owners=owners)


def list_others(
    backends: Backends, storage: str, staging: Staging, notes: Notes, problems: list[str]
) -> dict[str, Listing]:
    """List the other configured storages, by name. One that does not work is passed over, and is a problem."""
    found = {}
    for other in backends.configured:
        if other != storage:
            try:
                found[other] = list_storage(backends.get(other), other, staging, notes)
            except FrepoError as error:
                problems.append(f"{other} cannot be read, so what is in it alone is taken as missing: {error.message}")
    return found


def find_source(
    backend: StorageBackend,
    storage: str,
    keys: list[JournalKey],
    staging: Staging,
    folder: Path,
    notes: Notes,
    problems: list[str],
    *,
    until: datetime | None = None,
) -> Source:
    """Read the newest catalogue that is whole, and stage what the journal has since, at most until a time.

    `problems` are those before, to which those of this storage are added. Raises `RecoveryError` if no catalogue is
    found.
    """
    catalogue, file, objects = _find_catalogue(backend, storage, keys, folder, problems, notes)
    parts = sorted(key for key in keys if not key.made_at and key.place > catalogue.place)
    database, position, reaches = file.head["database"], file.head["position"], file.head["made_at"]
    read, last = 0, catalogue
    for key in parts:
        try:
            part = _fetch(backend, key, folder / "part")
            part.check()
        except (JournalDamagedError, StorageError) as error:
            problems.append(f"{key.text} cannot be used: {error.message}")
            continue
        if part.head["database"] != database:
            problems.append(f"{key.text} is of another database and was passed over")
            continue
        if until and datetime.fromisoformat(part.head["made_at"]) > until:
            break
        if part.head["since_position"] > position:
            problems.append(f"Before {key.text}, a part is missing: what changed in it alone is lost")
        for kind, place, state in part.objects():
            staging.change(kind, place, state)
        position, reaches, read = part.head["position"], part.head["made_at"], read + 1
        last = key
        notes(f"{read} of {len(parts)} parts of the journal")
    return Source(
        storage=storage,
        catalogue=catalogue,
        last=last,
        file=file,
        objects=objects,
        parts=read,
        reaches=datetime.fromisoformat(reaches),
        database=database,
        schema=file.head["schema"],
        problems=tuple(problems),
    )


def _find_catalogue(
    backend: StorageBackend, storage: str, keys: list[JournalKey], folder: Path, problems: list[str], notes: Notes
) -> tuple[JournalKey, JournalFile, int]:
    catalogues = sorted((key for key in keys if key.made_at), key=lambda key: (key.place, key.made_at), reverse=True)
    for key in catalogues:
        notes(f"reading {key.text}")
        try:
            file = _fetch(backend, key, folder / "catalogue")
            return key, file, file.check()
        except (JournalDamagedError, StorageError) as error:
            problems.append(f"{key.text} cannot be used: {error.message}")
    if catalogues:
        raise RecoveryError(f"No catalogue in the storage {storage!r} is whole. {'. '.join(problems)}")
    raise RecoveryError(
        f"The storage {storage!r} has no catalogue, so names, collections and versions cannot be recovered from it. "
        f"Check its settings. `frepo storage:rebuild-index --dry-run --storage {storage}` counts its contents"
    )


def _fetch(backend: StorageBackend, key: JournalKey, path: Path) -> JournalFile:
    """Copy an object to the local disk. Raises `JournalDamagedError` and the errors of the storage."""
    with backend.open(key.text) as stored, path.open("wb") as file:
        while piece := stored.read(_PIECE):
            file.write(piece)
    return JournalFile(path)
