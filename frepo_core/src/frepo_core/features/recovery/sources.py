"""Finds in a storage what a database can be recovered from: a whole catalogue, and the journal after it."""

import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from frepo_core.domain.sizes import readable_size
from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError, StorageError
from frepo_core.plugins import StorageBackend
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.upkeep.journal.keys import JournalKey
from frepo_core.services.upkeep.reconcile.staging import Listing, Notes, list_storage

from .journal.seals import JournalSeals
from .journal_file import JournalDamagedError, JournalFile
from .staging import RecoveryStaging

_PIECE = 1 << 20
# A head is complete before so many compressed bytes.
_BEGINNING = 64 << 10
# What stays free on the local disk for the objects of the journal.
_LEFT_FREE = 64 << 20


class RecoveryError(FrepoError):
    """Nothing can be recovered, or not into this database. The message says what to do."""


@struct
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


def list_others(
    backends: Backends, given: Collection[str], staging: RecoveryStaging, notes: Notes, problems: list[str]
) -> dict[str, Listing]:
    """List the other configured storages, by name. One that does not work is passed over, and is a problem."""
    found = {}
    for other in backends.configured:
        if other not in given:
            try:
                found[other] = list_storage(backends.get(other), other, staging, notes)
            except FrepoError as error:
                problems.append(f"{other} cannot be read, so what is in it alone is taken as missing: {error.message}")
    return found


class SourceFiles:
    """Reads catalogues and parts of the journal of one storage. What cannot be used is added to `problems`.

    `seals` verifies them. Without it, nothing is verified, and `problems` says so.
    """

    def __init__(
        self,
        backend: StorageBackend,
        storage: str,
        folder: Path,
        seals: JournalSeals | None,
        notes: Notes,
        problems: list[str],
    ) -> None:
        self._backend = backend
        self.storage = storage
        self._folder = folder
        self._seals = seals
        self.notes = notes
        self.problems = problems
        self.unverified = self.of_other_secrets = 0
        if seals is None:
            problems.append("Nothing is verified: whoever could write to the storage may have changed what is read")

    def read(self, key: JournalKey) -> tuple[JournalFile, int] | None:
        """Copy a file to the local disk; return it with the number of its objects, None if it cannot be used."""
        path = self._folder / ("catalogue" if key.made_at else "part")
        try:
            self._copy(key, path)
            file = JournalFile(path)
            count = file.check()
        except (JournalDamagedError, StorageError) as error:
            self.problems.append(f"{key.text} cannot be used: {error.message}")
            path.unlink(missing_ok=True)
            return None
        if self._seals is not None and (problem := self._seals.find_problem(key, file.digest, file.seal)):
            self.problems.append(f"{key.text} cannot be verified: {problem}")
            self.unverified += 1
            self.of_other_secrets += self._seals.is_of_others(file.seal)
            return None
        return file, count

    def _copy(self, key: JournalKey, path: Path) -> None:
        """Copy a file, no further if it does not begin like one, or if there is no room for it.

        Raises `JournalDamagedError`, `StorageError`, and `RecoveryError` if the local disk is full already.
        """
        room, begins = shutil.disk_usage(self._folder).free - _LEFT_FREE, False
        if room <= 0:
            raise RecoveryError(f"{self._folder.parent} is nearly full: set temp_directory to a folder with more room")
        with self._backend.open(key.text) as stored, path.open("wb") as target:
            while piece := stored.read(_PIECE):
                target.write(piece)
                if not begins and target.tell() >= _BEGINNING:
                    target.flush()
                    begins = bool(JournalFile(path))
                if target.tell() > room:
                    raise JournalDamagedError(
                        f"{self._folder.parent} has no room for its first {readable_size(target.tell())}"
                    )


def find_source(
    files: SourceFiles, keys: list[JournalKey], staging: RecoveryStaging, *, until: datetime | None = None
) -> Source:
    """Read the newest catalogue that is whole, and stage what the journal has since, at most until a time.

    Raises `RecoveryError` if no catalogue is found.
    """
    catalogue, file, objects = _find_catalogue(files, keys)
    parts = sorted(key for key in keys if not key.made_at and key.place > catalogue.place)
    database, position, reaches = file.head["database"], file.head["position"], file.head["made_at"]
    read, last, before = 0, catalogue, _before(file)
    for key in parts:
        if (found := files.read(key)) is None:
            before = None  # the next one follows a part that is not known
            continue
        part = found[0]
        if part.head["database"] != database:
            files.problems.append(f"{key.text} is of another database and was passed over")
            continue
        if until and datetime.fromisoformat(part.head["made_at"]) > until:
            break
        is_next = None in (before, _before(part)) or before == _before(part)
        if part.head["since_position"] > position or not is_next:
            files.problems.append(f"Before {key.text}, a part is missing: what changed in it alone is lost")
        for kind, place, state in part.objects():
            staging.change(kind, place, state)
        position, reaches, read = part.head["position"], part.head["made_at"], read + 1
        last, before = key, part.digest
        files.notes(f"{read} of {len(parts)} parts of the journal")
    return Source(
        storage=files.storage,
        catalogue=catalogue,
        last=last,
        file=file,
        objects=objects,
        parts=read,
        reaches=datetime.fromisoformat(reaches),
        database=database,
        schema=file.head["schema"],
        problems=tuple(files.problems),
    )


def _before(file: JournalFile) -> str | None:
    """Return the digest of the part before a file, None if it does not say."""
    before = file.seal.get("before") if isinstance(file.seal, dict) else None
    return before if isinstance(before, str) else None


def _find_catalogue(files: SourceFiles, keys: list[JournalKey]) -> tuple[JournalKey, JournalFile, int]:
    catalogues = sorted((key for key in keys if key.made_at), key=lambda key: (key.place, key.made_at), reverse=True)
    for key in catalogues:
        files.notes(f"reading {key.text}")
        if (found := files.read(key)) is not None:
            return key, *found
    if files.unverified:
        why = "Somebody has changed them, or they are from before there were seals: look at them before --unverified"
        if files.of_other_secrets:
            why = (
                "enc.token_phrase (ENC_TOKEN_PHRASE) is not the phrase of the old machine, or app.secret (APP_SECRET) "
                "not its secret. Give the two lines that `frepo install` printed there: --secrets FILE. If they are "
                "lost: --without-secrets"
            )
        raise RecoveryError(
            f"No catalogue in the storage {files.storage!r} can be verified. {why}. {'. '.join(files.problems)}"
        )
    if catalogues:
        raise RecoveryError(f"No catalogue in the storage {files.storage!r} is whole. {'. '.join(files.problems)}")
    raise RecoveryError(
        f"The storage {files.storage!r} has no catalogue, so names, collections and versions cannot be recovered from "
        "it. Check its settings. If only older versions of frepo used it, each key is the SHA-256 of its content"
    )


def find_furthest(storages: Sequence[str], read: Callable[[str], Source]) -> Source:
    """Return the source that reaches furthest, and of equal ones the first. `read` stages its journal.

    What is wrong with the others is a problem of it. Raises the first `RecoveryError` if no storage has a source.
    """
    sources, errors = dict[str, Source](), dict[str, RecoveryError]()
    for storage in storages:
        try:
            sources[storage] = read(storage)
        except RecoveryError as error:
            errors[storage] = error
    if not sources:
        raise next(iter(errors.values()))
    best = max(sources.values(), key=lambda source: source.reaches)
    if best is not [*sources.values()][-1] or errors:
        read(best.storage)  # so that its journal is the one that is staged
    return replace(best, problems=(*best.problems, *_describe_others(sources, errors, best)))


def _describe_others(sources: dict[str, Source], errors: dict[str, RecoveryError], best: Source) -> Sequence[str]:
    texts = [f"The journal in {storage!r} is not used: {error.message}" for storage, error in errors.items()]
    for storage, source in sources.items():
        if source.database != best.database:
            texts.append(f"The journal in {storage!r} is of another database and is not used")
        elif source.reaches < best.reaches:
            texts.append(f"The journal in {storage!r} only reaches {source.reaches:%Y-%m-%d %H:%M:%S} UTC")
    return texts
