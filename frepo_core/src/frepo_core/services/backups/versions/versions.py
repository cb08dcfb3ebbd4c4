"""The use cases of versions: list, find and delete. `add_version` adds them."""

import logging
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Content, File, Version
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor, parse_uuid4
from frepo_core.domain.naming import parse_version_number
from frepo_core.domain.permissions import allows
from frepo_core.error_explanations import not_a_uuid
from frepo_core.errors import (
    FieldsError,
    ForeignVersionError,
    NotFoundError,
    VersionPinnedError,
    VersionTooYoungError,
    WrongPasswordError,
)

from ...access.passwords import NO_READ_ACCESS, Passwords
from ...access.policies.policies import Policies
from ...base.change_log import describe_file
from ...base.keyset import Page, PageRequest, cut, paged
from ...base.records import CollectionRecord, VersionRecord
from ...content.blobs.lifecycle import Blobs
from ...content.objects.uses import is_lost
from ...events.facts import version_event
from ...events.recording import record
from ..rows.collection_rows import lock_collection
from ..rows.holds import require_no_hold
from ..rows.locks import require_removable
from ..rows.newest_good import takes_last_good
from ..rows.quarantine import is_there_for
from ..rows.removal import TrashReason, move_to_trash
from ..rows.verdicts import failures_of, is_good, note_newest
from ..rows.version_labels import has_label
from ..rows.version_rows import VersionPrecondition, records_of, select_with_files

log = logging.getLogger(__name__)

# What words and times name: pending versions, too, but none in quarantine, and none that was found broken later.
_IS_NAMED = ~Version.is_quarantined & Version.condemned_at.is_(None)
_NEWEST, _OLDEST, _GOOD = ("latest", "recent"), "first", "good"
_WORDS = (*_NEWEST, _OLDEST, _GOOD)
_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(?::\d\d(\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d))?", re.ASCII)


class Versions:
    """The use cases of versions."""

    def __init__(
        self, database: Database, blobs: Blobs, passwords: Passwords, policies: Policies, keep: timedelta
    ) -> None:
        """`keep` is how long deleted versions can be restored."""
        self._database = database
        self._keep = keep
        self._blobs = blobs
        self._passwords = passwords
        self._policies = policies

    def list(self, collection_id: str) -> list[VersionRecord]:
        """Return all versions, ascending by number."""
        with self._database.reading() as session:
            rows = session.scalars(
                select_with_files().where(Version.collection_id == collection_id).order_by(Version.number)
            )
            return records_of(session, rows)

    def search(
        self, verdicts: Sequence[Verdict], reasons: Sequence[str] = ()
    ) -> Sequence[tuple[CollectionRecord, VersionRecord]]:
        """Return the versions of all collections with one of the verdicts, and in quarantine for one of the reasons.

        Empty restricts nothing. With them are their collections.
        They are in the order of the names of the collections, the newest version of each first.
        """
        query = select_with_files().add_columns(Collection).join(Collection, Collection.id == Version.collection_id)
        query = query.where(*_restrictions(verdicts, reasons))
        query = query.order_by(Collection.filename, Collection.id, Version.number.desc())
        with self._database.reading() as session:
            rows = session.execute(query).all()
            records = records_of(session, [row for row, _ in rows])
            return [(CollectionRecord.of(row[1]), record) for row, record in zip(rows, records, strict=True)]

    def find(self, collection_id: str, name: str) -> VersionRecord:
        """Return the version with this name: `latest`, `recent`, `first`, `good`, `v<N>`, or the version's id.

        `good` is the newest one whose verdict is good. A version in quarantine, and one that was found broken after it
        had been accepted, has only the last two names. Raises `NotFoundError`.
        """
        query = select_with_files().where(Version.collection_id == collection_id)
        number = parse_version_number(name)
        if name in _NEWEST:
            query = query.where(_IS_NAMED).order_by(Version.number.desc()).limit(1)
        elif name == _OLDEST:
            query = query.where(_IS_NAMED).order_by(Version.number).limit(1)
        elif name == _GOOD:
            query = query.where(is_good(), _is_sound()).order_by(Version.number.desc()).limit(1)
        elif number is not None:
            query = query.where(Version.number == number)
        else:
            query = query.where(Version.id == parse_uuid4(name.lower()))
        with self._database.reading() as session:
            row = session.scalar(query)
            if row is None:
                raise _not_found(collection_id, name)
            return records_of(session, [row])[0]

    def find_selected(self, collection_id: str, selector: str) -> VersionRecord:
        """Return the version with this name, see `find`, or the newest one at or before a time of RFC 3339.

        Versions in quarantine, and condemned ones, are not found by a time.

        A time without fractions of a second includes its whole second, and a day ends at midnight UTC.
        Raises `NotFoundError`.
        """
        end = _parse_end(selector)
        if end is None:
            return self.find(collection_id, selector)
        query = select_with_files().where(Version.collection_id == collection_id, Version.created_at < end, _IS_NAMED)
        with self._database.reading() as session:
            row = session.scalar(query.order_by(Version.number.desc()).limit(1))
            if row is None:
                raise NotFoundError(f"The collection has no version at or before {selector}")
            return records_of(session, [row])[0]

    def page(
        self,
        collection_id: str,
        page: PageRequest,
        *,
        verdicts: Sequence[Verdict] = (),
        reasons: Sequence[str] = (),
        only_damaged: bool = False,
        label: tuple[str, str] | None = None,
    ) -> Page[VersionRecord]:
        """Return a page of the versions, by number: those with one of the verdicts and reasons, if any are given.

        `only_damaged` are those whose bytes are lost, `label` is a name and the value that they have. Raises
        `FieldsError` for an invalid cursor.
        """
        query = select_with_files().where(Version.collection_id == collection_id)
        query = query.where(*_restrictions(verdicts, reasons), *([has_label(collection_id, *label)] if label else []))
        if only_damaged:
            lost = select(Content.id).where(is_lost())
            query = query.where(Version.file_id.in_(select(File.id).where(File.content_id.in_(lost))))
        with self._database.reading() as session:
            rows = session.scalars(paged(query, page, [Version.number])).all()
            found = cut(rows, page, lambda row: [row.number])
            return Page(items=records_of(session, found.items), next=found.next)

    def check_password(self, version: VersionRecord, password: str, *, by: Identity, address: str) -> bool:
        """Check the version's password; return whether a download link may replace it. Raises `WrongPasswordError`.

        A link replaces the password if one was needed and given, or if the token may read any file.
        """
        if allows("file.read_any", by):
            return True
        if not self._passwords.verify(password, version.file.password_hash, client=address):
            raise WrongPasswordError(NO_READ_ACCESS)
        return version.file.password_hash is not None

    def delete(
        self,
        collection_id: str,
        name: str,
        *,
        by: Identity | None = None,
        simulate: bool = False,
        precondition: VersionPrecondition = None,
    ) -> None:
        """Delete the version with this name (`v<N>`) or id, into the trash.

        `precondition` is called with the version before it is deleted; what it raises prevents the deletion.

        Raises `FieldsError` if it does not exist, and `RuleError` if it belongs to another collection, is pinned,
        locked, on hold, or younger than the minimal retention. A version in quarantine can be deleted at any age.
        Raises `PolicyRefusedError` or `PolicyFailedError` if a policy does not allow it.
        """
        self._policies.check_deletion(collection_id, by=by, find=lambda session: _facts(session, collection_id, name))

        def work(session: Session) -> tuple[VersionRecord, Sequence[int]]:
            collection = lock_collection(session, collection_id)
            row = _find_for_deletion(session, collection_id, name)
            version = VersionRecord.of(row)
            if precondition:
                precondition(version)
            require_removable(session, [row])
            require_no_hold(collection)
            _check_deletable(collection, row)
            if simulate:
                return version, []
            over = failures_of(row)
            removed = move_to_trash(
                session, collection, [row], reason=TrashReason.DELETED, by=by, keep=self._keep, now=utc_now()
            )
            note_newest(session, collection, over=over)
            record(session, version_event(EventKind.VERSION_DELETED, version, by=by, **removed.event_data))
            return version, removed.released_content_ids

        deleted, released_content_ids = self._database.write(work, may_use_reserve=True)
        self._blobs.collect(released_content_ids)
        if not simulate:
            what = describe_file(deleted.file)
            log.info(
                "collection %s: version v%s deleted by %s: %s", collection_id, deleted.number, describe_actor(by), what
            )


def _is_sound() -> ColumnElement[bool]:
    """Return the condition that the bytes of a version are not damaged."""
    return Version.file.has(File.blob.has(~is_lost()))


def _parse_end(selector: str) -> datetime | None:
    """Return the first moment after the time or the day that a selector names, None if it names none."""
    match = _TIME.fullmatch(selector)
    if match is None:
        return None
    try:
        start = datetime.fromisoformat(selector)
        start = start if start.tzinfo else start.replace(tzinfo=UTC)
        length = (
            timedelta(days=1) if match[1] is None else timedelta(microseconds=1) if match[2] else timedelta(seconds=1)
        )
        return start.astimezone(UTC) + length
    except (ValueError, OverflowError):
        raise NotFoundError(
            f"{selector!r} is no time that exists, write e.g. 2026-11-22T20:13:33Z or 2026-11-22"
        ) from None


def _not_found(collection_id: str, name: str) -> NotFoundError:
    """Return the error for a name that no version of the collection has."""
    remedy = (
        f"`frepo backup:versions {collection_id}` lists the versions, `frepo backup:trash {collection_id}` those that "
        "can be restored"
    )
    if name in _WORDS:
        remedy += ". `latest`, `first` and `good` leave out versions in quarantine, and those that were found broken"
    sentence = f"The collection {collection_id} has no version {name[:64]!r}"
    explanation = _malformed(name, *_WORDS)
    return NotFoundError("Object not found", sentence=sentence, explanation=explanation, remedy=remedy)


def _malformed(name: str, *words: str) -> str | None:
    """Return an explanation if the name can never be a version's; `words` are other names that are allowed here."""
    if name in words or parse_version_number(name) is not None or parse_uuid4(name.lower()):
        return None
    times = ", a time such as 2026-11-22 or 2026-11-22T20:13:33Z" if "latest" in words else ""
    return f"{not_a_uuid('version')}, and it is not one of: {', '.join(('v<number>', *words))}{times}"


def _check_deletable(collection: Collection, version: Version) -> None:
    if version.pinned:
        raise VersionPinnedError()
    is_counted = not version.is_quarantined
    if is_counted and CollectionRecord.of(collection).guards.protects(version.created_at, now=utc_now()):
        raise VersionTooYoungError()


def _facts(session: Session, collection_id: str, name: str) -> tuple[int, bool]:
    """Return what policies are told of a version to delete: its number, and whether it is the only good one."""
    number = _find_for_deletion(session, collection_id, name).number
    return number, takes_last_good(session, collection_id, number)


def _restrictions(verdicts: Sequence[Verdict], reasons: Sequence[str]) -> Sequence[ColumnElement[bool]]:
    of_verdicts = [Version.verdict.in_(verdicts)] if verdicts else []
    return [*of_verdicts, is_there_for(reasons)] if reasons else of_verdicts


def _find_for_deletion(session: Session, collection_id: str, name: str) -> Version:
    number = parse_version_number(name)
    if number is not None:
        query = select_with_files().where(Version.collection_id == collection_id, Version.number == number)
    else:
        query = select_with_files().where(Version.id == parse_uuid4(name.lower()))
    row = session.scalars(query).one_or_none()
    if row is None:
        raise FieldsError({"version": ["version_no_longer_exists"]}, explanation=_malformed(name))
    if row.collection_id != collection_id:
        raise ForeignVersionError()
    return row
