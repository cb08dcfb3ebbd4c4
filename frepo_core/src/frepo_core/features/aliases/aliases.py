"""The use cases of aliases: those in the database, and those of the YAML file, which are read-only here."""

import logging
from collections.abc import Callable
from unicodedata import normalize

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Alias, File
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By, describe_actor
from frepo_core.domain.naming import check_file_name
from frepo_core.domain.structs import struct
from frepo_core.errors import FieldsError, NotFoundError
from frepo_core.services.base.keyset import Page, PageRequest
from frepo_core.services.events.recording import NewEvent, record
from frepo_core.services.files.aliases import Aliases, find_stored
from frepo_core.services.files.file_rows import STORED_NAME

log = logging.getLogger(__name__)

_IN_FILE, _IN_DATABASE = "file", "database"


@struct
class AliasRecord:
    """An alias, and the stored name of its file. `is_read_only`: it is in the YAML file."""

    name: str
    file: str
    is_read_only: bool


Precondition = Callable[[AliasRecord], None]


class StoredAliases:
    """Lists and changes aliases. An alias of the YAML file wins over one in the database with the same name."""

    def __init__(self, database: Database, from_file: Aliases) -> None:
        self._database = database
        self._from_file = from_file

    def get(self, name: str) -> AliasRecord:
        """Return an alias. Raises `NotFoundError`."""
        name = normalize("NFC", name)
        in_file = self._from_file.read_all().get(name)
        target = in_file or find_stored(self._database, name)
        if target is None:
            raise _not_found(name)
        return AliasRecord(name=name, file=target, is_read_only=in_file is not None)

    def page(self, page: PageRequest) -> Page[AliasRecord]:
        """Return a page: first the aliases of the YAML file, then those in the database, each by name."""
        source, after = _after(page)
        in_file = self._from_file.read_all()
        found = [(_IN_FILE, name, in_file[name]) for name in sorted(in_file) if source == _IN_FILE and name > after]
        if len(found) <= page.limit:
            query = select(Alias.name, Alias.file).order_by(Alias.name).limit(page.limit + 1 + len(in_file))
            if source == _IN_DATABASE:
                query = query.where(Alias.name > after)
            with self._database.reading() as session:
                rows = session.execute(query).all()
            found += [(_IN_DATABASE, row.name, row.file) for row in rows if row.name not in in_file]
        shown = found[: page.limit]
        items = [AliasRecord(name=name, file=file, is_read_only=kind == _IN_FILE) for kind, name, file in shown]
        return Page(items=items, next=list(shown[-1][:2]) if len(found) > len(shown) else None)

    def put(
        self, name: str, file: str, *, by: By, precondition: Precondition | None = None
    ) -> tuple[AliasRecord, bool]:
        """Make an alias, or give it another file; return it, and whether it is new.

        Raises `FieldsError` for a name that cannot be one, an unknown file, and an alias of the YAML file.
        """
        name = self._check(name)

        def work(session: Session) -> tuple[AliasRecord, bool]:
            row = session.get(Alias, name, with_for_update=True)
            if precondition is not None:
                precondition(_record(row) if row else _missing(name))
            if session.scalar(select(File.id).where(File.stored_name == file)) is None:
                raise FieldsError({"file": [f"There is no file {file!r}"]}, remedy=STORED_NAME)
            before = row.file if row else None
            if row is None:
                row = Alias(name=name, file=file, created_at=utc_now())
                session.add(row)
            row.file = file
            if before is None:
                record(session, _event(EventKind.ALIAS_CREATED, by, name, after={"file": file}))
            elif before != file:
                record(session, _event(EventKind.ALIAS_EDITED, by, name, before={"file": before}, after={"file": file}))
            return _record(row), before is None

        made, is_new = self._database.write(work)
        log.info("alias %r: set to %r by %s", name, file, describe_actor(by))
        return made, is_new

    def delete(self, name: str, *, by: By, precondition: Precondition | None = None) -> None:
        """Delete an alias. Raises `NotFoundError`, and `FieldsError` for one of the YAML file only."""
        name = normalize("NFC", name)

        def work(session: Session) -> None:
            row = session.get(Alias, name, with_for_update=True)
            if row is None:
                self._refuse_of_file(name)
                raise _not_found(name)
            if precondition is not None:
                precondition(_record(row))
            session.delete(row)
            record(session, _event(EventKind.ALIAS_DELETED, by, name, before={"file": row.file}))

        self._database.write(work, may_use_reserve=True)
        log.info("alias %r: deleted by %s", name, describe_actor(by))

    def _check(self, name: str) -> str:
        try:
            name = check_file_name(name, may_have_symbols=False)
        except ValueError as error:
            raise FieldsError({"alias": [str(error)]}) from None
        self._refuse_of_file(name)
        return name

    def _refuse_of_file(self, name: str) -> None:
        if name in self._from_file.read_all():
            raise FieldsError({"alias": ["This alias is defined in the file of ids_mapping.file: change it there"]})


def _after(page: PageRequest) -> tuple[str, str]:
    match page.after:
        case None:
            return _IN_FILE, ""
        case [str(source), str(name)] if source in {_IN_FILE, _IN_DATABASE} and "\0" not in name:
            return source, name
    raise FieldsError({"cursor": ["This is not the cursor of a page of aliases: leave it out to begin"]})


def _record(row: Alias) -> AliasRecord:
    return AliasRecord(name=row.name, file=row.file, is_read_only=False)


def _missing(name: str) -> AliasRecord:
    return AliasRecord(name=name, file="", is_read_only=False)


def _not_found(name: str) -> NotFoundError:
    return NotFoundError(f"There is no alias {name!r}", remedy="`frepo alias:list` lists the aliases")


def _event(kind: EventKind, by: By, name: str, **data: object) -> NewEvent:
    return NewEvent(kind=kind, by=by, data={"name": name, **data})
