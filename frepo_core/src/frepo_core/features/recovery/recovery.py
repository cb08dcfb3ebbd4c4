"""Recovers the database of a service from its storages, when nothing else is left.

The journal says what exists; the listings of all storages say where it is.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from types import TracebackType
from typing import Self

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.migrations import head_revision
from frepo_core.db.models import (
    Base,
    Collection,
    Content,
    Event,
    File,
    Installation,
    Lease,
    Subscription,
    TrashEntry,
    Version,
)
from frepo_core.domain.enrolment import collection_of_host
from frepo_core.domain.texts.counts import counted
from frepo_core.services.access.token_phrase import PHRASE_CHECK
from frepo_core.services.backups.rows.counters import count_again
from frepo_core.services.base.batches import batches
from frepo_core.services.base.installation import IDS_FROM, RECOVERY, find_origin
from frepo_core.services.base.lease import LEADER
from frepo_core.services.base.plugin_rows import mark_lacking
from frepo_core.services.base.temporary_folder import TemporaryFolder
from frepo_core.services.content.objects.wishes import compare_again
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.kept_blobs import RECONCILE
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.services.upkeep.reconcile.reconciliation import Reconciliation
from frepo_core.services.upkeep.reconcile.staging import Listing, Notes, list_storage

from .interruption import Interruption, read_interruption
from .journal.json_rows import Values
from .journal.objects import ObjectKind
from .journal.seals import JournalSeals
from .lost_contents import find_used_storages, note_lost
from .row_loading import RowLoader, continue_sequences
from .sources import RecoveryError, Source, SourceFiles, find_furthest, find_source, list_others
from .staging import Key, MissingContent, RecoveryStaging

log = logging.getLogger(__name__)

BATCH = 1000
# Of so many unknown kinds, the objects are named.
_MOST_UNKNOWN = 100
_Group = tuple[str, Iterator[tuple[str, Key, list[Values]]]]
# What nobody can use without the phrase that the ids of the tokens were stored with.
SECRET_KINDS = frozenset({"token", "enrolment_code"})


@dataclass(frozen=True, kw_only=True)
class RecoveryReport:
    """What was recovered: numbers of objects by kind, and how many contents are named and cannot be read.

    `found` is the number of objects that were found by their keys and heads in the storages that were `adopted`.
    `unusable` says of which objects nothing can be made, and why.
    """

    counts: Mapping[str, int]
    missing: int
    unusable: Sequence[str]
    found: int
    adopted: Sequence[str]


class Recovery:
    """A recovery from storages. Use it in a `with` statement: it keeps files in a folder of its own."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        seals: JournalSeals | None,
        kinds: Sequence[ObjectKind],
        storages: Sequence[str],
        folder: str | None,
        notes: Notes,
    ) -> None:
        """`storages` have to answer; the other configured ones are looked at, too. `folder` is for temporary files.

        `notes` is called with texts about the progress. `seals` verifies what is read; None: it need not be from here.
        """
        self._database = database
        self._backends = backends
        self._seals = seals
        self._kinds = kinds
        self._given = list(dict.fromkeys(storages))
        self._notes = notes
        self._folder = TemporaryFolder("frepo-recovery-", folder)
        self._staging = RecoveryStaging(self._folder.path)
        self._listed: dict[str, Listing] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._staging.close()
        self._folder.close()

    def find(self) -> Source:
        """List the storages, and read what a database can be recovered from: what reaches furthest. Changes nothing.

        Raises `RecoveryError` if the database is not empty, if nothing can be recovered, or if that is of a newer
        version of frepo.
        """
        interruption = self._require_empty()
        problems: list[str] = []
        for storage in self._given:
            self._listed[storage] = list_storage(self._backends.get(storage), storage, self._staging, self._notes)
        self._listed |= list_others(self._backends, self._given, self._staging, self._notes, problems)
        self._staging.index_stored()
        if interruption is not None:
            source = self._read(interruption.storage, interruption)
        else:
            source = find_furthest(self._given, self._read)
        if source.schema > head_revision():
            raise RecoveryError(
                f"{source.catalogue.text} was written by a newer version of frepo (schema {source.schema}, this one "
                f"has {head_revision()}). Install that version"
            )
        return replace(source, problems=(*problems, *source.problems))

    def _read(self, storage: str, interruption: Interruption | None = None) -> Source:
        """Read the journal of one storage; of an interrupted recovery only what that has seen: the rest is younger."""
        self._staging.forget_changes()
        keys, folder = self._listed[storage].keys, self._folder.path
        keys = [key for key in keys if interruption is None or interruption.has_seen(key)]
        files = SourceFiles(self._backends.get(storage), storage, folder, self._seals, self._notes, [])
        return find_source(files, keys, self._staging)

    def stored_phrase_check(self, source: Source) -> str | None:
        """Return the check value of the token phrase that the tokens of the old database were stored with."""
        for kind, key, state in source.file.objects():
            if kind != "installation":
                return None
            if key == (PHRASE_CHECK,):
                return str(state[0]["value"])
        return None

    def tokens(self, source: Source) -> Iterator[Values]:
        """Yield the tokens of the old database."""
        for _, values in self._objects(source, {"token"}):
            yield values

    def collections(self, source: Source) -> Iterator[Values]:
        """Yield the collections of the old database, with the tokens on their lists."""
        for _, values in self._objects(source, {"collection"}):
            yield values

    def is_of_host(self, token: Values, collections: Sequence[str]) -> bool:
        """Return whether a token on the lists of these collections was made by `fleet:create` for a host."""
        return collection_of_host(find_origin(self._database), token["name"]) in collections

    def run(self, source: Source, *, with_tokens: bool) -> RecoveryReport:
        """Fill the database, then make it the owner of the storage. May be repeated if it was interrupted.

        `with_tokens` is False if the phrase of the tokens is lost.
        """
        self._begin(source)
        loader = RowLoader(self._database, self._staging)
        left_out = frozenset() if with_tokens else SECRET_KINDS
        passed_over = Counter[str]()
        for kind, objects in self._by_kind(source, passed_over):
            if kind.name in left_out:
                continue
            for batch in batches(objects, BATCH):
                loader.load(kind, batch)
                self._notes(f"{sum(loader.counts.values())} of about {source.objects} objects")
        self._database.write(lambda session: _finish(session, source, with_tokens=with_tokens))
        owned = {source.storage, *self._find_owned(source)}
        reconciliation = Reconciliation(self._database, self._backends, self._staging, notes=self._notes)
        done = reconciliation.run(self._listed, owned=owned)
        missing = self._find_missing()
        with self._database.reading() as session:
            adopted = sorted(owned | find_used_storages(session))
        for storage in adopted:
            Ownership(self._database, self._backends).adopt(storage, keeps_unknown=True)
        compare_again(self._database)
        for name in (RECOVERY, *(RECONCILE + storage for storage in adopted)):
            self._database.execute(delete(Installation).where(Installation.name == name))
        log.info("the database was recovered from %s in the storage %s", source.catalogue.text, source.storage)
        return RecoveryReport(
            counts=dict(loader.counts),
            missing=missing,
            unusable=[*loader.unusable, *map(_describe_unknown, passed_over.items())],
            found=done.found,
            adopted=adopted,
        )

    def _find_missing(self) -> int:
        """Note the contents that are named and that no storage can decode, each with a place; return their number."""
        count = 0
        for batch in batches(self._staging.named(), BATCH):
            lost = self._database.write(partial(note_lost, self._backends, batch))
            self._staging.add_missing(lost)
            count += len(lost)
        return count

    def missing(self) -> Iterator[MissingContent]:
        """Yield the contents that are named and cannot be read, after `run`."""
        return self._staging.missing()

    def _find_owned(self, source: Source) -> set[str]:
        """Return all storages of the old database. They get catalogues, too, if this one owns them."""
        owned = {storage for storage, listing in self._listed.items() if source.database in listing.owners}
        return {storage for storage in owned if not self._backends.find_users(storage)}

    def _require_empty(self) -> Interruption | None:
        """Raise `RecoveryError` if the database has contents, unless they are those of an interrupted recovery."""
        with self._database.reading() as session:
            if interruption := read_interruption(session):
                if interruption.storage not in self._given:
                    raise RecoveryError(
                        f"A recovery of this database from the storage {interruption.storage!r} was interrupted. "
                        "Repeat that one, or name an empty database in database.url (DATABASE_URL)"
                    )
                return interruption
            used = [model for model in (Collection, File, Version, TrashEntry, Content) if _has_rows(session, model)]
            leads = select(Lease.name).where(Lease.name == LEADER, Lease.expires_at > self._database.now())
            if session.scalar(leads.where(Lease.holder.is_not(None))) is not None:
                raise RecoveryError("A service uses this database. Stop it first")
        if used:
            raise RecoveryError(
                f"The database {self._database.name} is not empty, and a recovery would mix both. Name an empty one in "
                f"database.url (DATABASE_URL); for SQLite, move the file away. To read back only what this database "
                f"lacks: frepo recover --merge {' --merge '.join(self._given)}"
            )
        return None

    def _begin(self, source: Source) -> None:
        def work(session: Session) -> None:
            if read_interruption(session) is None:
                session.execute(delete(Event))
                session.execute(delete(Installation).where(Installation.name == PHRASE_CHECK))
                session.add(Installation(name=RECOVERY, value=Interruption.at(source).pack()))

        self._database.write(work)

    def _by_kind(
        self, source: Source, passed_over: Counter[str] | None = None
    ) -> Iterator[tuple[ObjectKind, Iterable[tuple[Key, Values]]]]:
        """Yield the objects by kind, in the order in which they can be inserted: first those of the journal.

        Those of an unknown kind, or not in this order, are not from frepo: they are counted in `passed_over`.
        """
        groups = groupby(source.file.objects(), key=itemgetter(0))
        group = next(groups, None)
        for index, kind in enumerate(self._kinds):
            yield kind, self._staging.changed(kind.name)
            expected = {one.name for one in self._kinds[index:]}
            while group and (group[0] == kind.name or group[0] not in expected):
                if group[0] == kind.name:
                    yield kind, self._unchanged(kind.name, group[1])
                    group = next(groups, None)
                else:
                    group = _pass_over(group, groups, passed_over)
        while group:
            group = _pass_over(group, groups, passed_over)

    def _unchanged(self, kind: str, lines: Iterable[tuple[str, Key, list[Values]]]) -> Iterator[tuple[Key, Values]]:
        """Yield the objects of the catalogue that the journal does not have."""
        for batch in batches(lines, BATCH):
            changed = self._staging.find_changed(kind, [key for _, key, _ in batch])
            for _, key, state in batch:
                if key not in changed:
                    yield from ((key, values) for values in state)

    def _objects(self, source: Source, names: set[str]) -> Iterator[tuple[Key, Values]]:
        for kind, objects in self._by_kind(source):
            if kind.name in names:
                yield from objects
            else:
                for _ in objects:
                    pass


def _pass_over(group: _Group, groups: Iterator[_Group], counts: Counter[str] | None) -> _Group | None:
    """Count the objects of a group, of at most a hundred kinds; return the next group."""
    number = sum(1 for _ in group[1])
    if counts is not None and (group[0] in counts or len(counts) < _MOST_UNKNOWN):
        counts[group[0]] += number
    return next(groups, None)


def _describe_unknown(found: tuple[str, int]) -> str:
    return f"{counted(found[1], 'object')} of the kind {found[0]!r:.40}, unknown or not in its place"


def _has_rows(session: Session, model: type[Base]) -> bool:
    return session.execute(select(model.__table__).limit(1)).first() is not None


def _finish(session: Session, source: Source, *, with_tokens: bool) -> None:
    """Set what follows from the recovered rows."""
    if not with_tokens:
        session.execute(delete(Installation).where(Installation.name == PHRASE_CHECK))
    if session.get(Installation, IDS_FROM) is None:
        session.add(Installation(name=IDS_FROM, value=source.database))
    # Subscribers of a service that ran before on this database have got the recovered events from the old one.
    session.execute(update(Subscription).values(position=session.scalar(select(func.max(Event.position))) or 0))
    count_again(session)
    mark_lacking(session)
    continue_sequences(session)
