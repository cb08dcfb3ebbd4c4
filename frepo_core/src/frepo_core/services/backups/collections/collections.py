"""The use cases of collections: create, edit and delete them."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, CollectionToken, Token
from frepo_core.db.models.base import copy_of
from frepo_core.domain.backups.groups import check_group
from frepo_core.domain.backups.guards import Guards
from frepo_core.domain.backups.locks import check_length
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor, parse_uuid4
from frepo_core.errors import AccessDeniedError, FieldsError, IdInUseError
from frepo_core.settings import Settings

from ...access.passwords import Passwords
from ...access.policies.policies import Policies
from ...access.tokens import NO_ACCESS
from ...base.change_log import Changes, collection_changes, collection_values, describe, describe_changes
from ...base.fleet_keys import claim_fleet_key
from ...base.records import CollectionRecord
from ...content.copies import Copies
from ...content.storages.storage_choice import StorageChoice
from ...events.actors import actor_columns
from ...events.facts import collection_event
from ...events.recording import record
from ..rotation.next_upload import NextUpload, foresee
from ..rotation.strategies import Strategies
from ..rows.collection_change import CollectionChange
from ..rows.collection_rows import collection_not_found, find_by_id_or_name, find_collection, set_rules
from ..rows.expected_backups import set_expectation
from ..rows.locks import lock
from ..rows.newest_good import takes_last_good
from ..rows.trash_keep import parse_trash_keep
from ..trash.collection_removal import RemovedCollection, remove_collection
from ..versions.version_edits import check_pins_leave_room
from .collection_permissions import check_roles
from .new_collection import NO_GUARDS, NewCollections
from .planned_change import (
    changes_rotation,
    check_strategy,
    may_change_rotation,
    planned,
    question_about,
    service_limits,
    strategy_problem,
)
from .token_list import put_creator_on_list

__all__ = ["CollectionChange", "Collections", "Precondition"]

log = logging.getLogger(__name__)

LOWER = "A restoration raises limits, and lowers none: leave this one out"
_COLLECTION, _LISTED = Collection.__table__, CollectionToken.__table__
_IS_LISTED = select(_LISTED.c.token_key).where(
    _LISTED.c.collection_id == _COLLECTION.c.id, _LISTED.c.token_key == bindparam("token")
)
_FOR_TOKEN = select(_COLLECTION, _IS_LISTED.exists().label("is_listed")).where(_COLLECTION.c.id == bindparam("id"))
Precondition: TypeAlias = Callable[[CollectionRecord], None] | None


@dataclass(frozen=True, kw_only=True)
class EditedCollection:
    """A collection after an edit; and what the next upload evicts, if the edit can change that, None otherwise."""

    collection: CollectionRecord
    next_upload: NextUpload | None


class Collections:
    """Manages collections. With `simulate`, everything is checked and answered as usual, but nothing changes."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        strategies: Strategies,
        passwords: Passwords,
        policies: Policies,
        storages: StorageChoice,
        copies: Copies,
    ) -> None:
        self._database = database
        self._strategies = strategies
        self._plugins = strategies.plugins
        self._passwords = passwords
        self._policies = policies
        self._storages = storages
        self._copies = copies
        self._keep = settings.trash_keep
        self._ceilings = service_limits(settings)
        self._longest_lock = settings.locks_max
        self._new = NewCollections(self._plugins, passwords, storages, self._ceilings, self._longest_lock, self._keep)

    def strategy_problem(self, name: str) -> str | None:
        """Return the text of the refusal of a strategy that no installed package brings, None for a known one."""
        return strategy_problem(self._plugins, name)

    def get(self, collection_id: str) -> CollectionRecord:
        """Return a collection. Raises `FieldsError` if it does not exist."""
        with self._database.reading() as session:
            return CollectionRecord.of(find_collection(session, collection_id))

    def find(self, text: str) -> CollectionRecord:
        """Return the collection of an id, or the only one with a name. Raises `FieldsError`."""
        with self._database.reading() as session:
            return CollectionRecord.of(find_by_id_or_name(session, text))

    def get_for_token(self, collection_id: str, identity: Identity) -> tuple[CollectionRecord, bool]:
        """Return a collection, and whether the token is on its list. Raises `FieldsError` if it does not exist."""
        key = parse_uuid4(collection_id.lower())
        rows = self._database.fetch_rows(_FOR_TOKEN, id=key, token=identity.token) if key is not None else ()
        if not rows:
            raise collection_not_found(collection_id)
        return CollectionRecord.of(rows[0]), bool(rows[0].is_listed)

    def create(
        self,
        change: CollectionChange,
        *,
        by: Identity | None,
        simulate: bool = False,
        default_guards: Guards = NO_GUARDS,
    ) -> CollectionRecord:
        """Create a collection that lists its creator's token. `by` is None for `frepo`, which has every right.

        Raises `AccessDeniedError` for an infinite limit or a chosen id without the role, `IdInUseError`, `FieldsError`
        and `RuleError`.
        """
        check_roles(change, by)
        planned_row = self._new.row(change, default_guards)
        planned_row.created_by = actor_columns(by)["actor"]

        def work(session: Session) -> None:
            if session.get(Collection, made.id):
                raise IdInUseError({"id": ["id_not_unique"]})
            if by is not None and session.get(Token, by.token) is None:
                raise AccessDeniedError(NO_ACCESS)
            if change.fleet_key:
                claim_fleet_key(session, Collection, change.fleet_key)
            if not simulate:
                row = copy_of(planned_row)
                session.add(row)
                session.flush()
                created = collection_event(EventKind.COLLECTION_CREATED, row.id, by=by, after=values)
                record(session, created, *put_creator_on_list(session, row.id, by))

        made = CollectionRecord.of(planned_row)
        values = collection_values(made)
        self._database.write(work)
        if not simulate:
            log.info("collection %s: created by %s: %s", made.id, describe_actor(by), describe(values))
        return made

    def check(self, change: CollectionChange, *, default_guards: Guards = NO_GUARDS) -> None:
        """Raise `FieldsError` or `RuleError` if a new collection cannot have these values. Nothing is made."""
        self._new.row(replace(change, password=None), default_guards)

    def edit(
        self,
        collection_id: str,
        change: CollectionChange,
        *,
        by: Identity,
        simulate: bool = False,
        precondition: Precondition = None,
    ) -> EditedCollection:
        """Change the given values of a collection. Raises the same errors as `create`.

        `precondition` is called with the locked collection before the change; what it raises prevents the change.
        """
        check_roles(change, by)
        check_strategy(self._plugins, change.strategy)
        self._storages.check(change.storage)
        check_group(change.compact_group)
        password_hash = self._passwords.hash(change.password or "")
        question = question_about(self._strategies, collection_id, change, self._ceilings)

        def work(session: Session) -> tuple[EditedCollection, Changes]:
            row = find_collection(session, collection_id, lock=True)
            current = CollectionRecord.of(row)
            if precondition:
                precondition(current)
            if change.fleet_key and change.fleet_key != row.fleet_key:
                claim_fleet_key(session, Collection, change.fleet_key)
            future = self._change_row(session, row, current, change)
            row.password_hash = row.password_hash if change.password is None else password_hash
            if not simulate:
                lock(session, row, future.locked)
                if row.mirror != current.mirror:
                    self._copies.note_mirror_change(session, row.id)
            after = CollectionRecord.of(row)
            changes = collection_changes(current, after)
            if simulate:
                session.expunge(row)
            upcoming = None
            if changes_rotation(current, after):
                upcoming = foresee(session, self._plugins, after, question)
            if changes.after and not simulate:
                _record_edit(session, row.id, changes, upcoming, by=by)
            return EditedCollection(collection=after, next_upload=upcoming), changes

        def transact() -> tuple[EditedCollection, Changes]:
            return self._database.write(work)

        edited, changes = question.settle(transact) if may_change_rotation(change) else transact()
        if not simulate:
            what = describe_changes(changes)
            log.info("collection %s: edited by %s: %s", edited.collection.id, describe_actor(by), what)
        return edited

    def _change_row(
        self, session: Session, row: Collection, current: CollectionRecord, change: CollectionChange
    ) -> CollectionRecord:
        """Check the values against the locked row, and set them. Return the collection with its new rules."""
        future = planned(current, change, plugins=self._plugins, ceilings=self._ceilings)
        check_length(future.locked, current.locked, longest=self._longest_lock)
        if future.limits.is_below(current.limits):
            check_pins_leave_room(session, row, future.limits)
        set_rules(row, future)
        self._set_storages(row, change)
        row.description = row.description if change.description is None else change.description
        row.filename = change.filename or row.filename
        row.fleet_key = change.fleet_key or row.fleet_key
        if change.trash_keep is not None:
            row.trash_keep = parse_trash_keep(change.trash_keep, self._keep)
        row.compact_group = row.compact_group if change.compact_group is None else change.compact_group or None
        set_expectation(row, change, now=utc_now())
        return future

    def raise_limits(self, session: Session, row: Collection, limits: Mapping[str, int], *, by: Identity) -> None:
        """Raise limits of a locked collection in the transaction of what needs them, and record that.

        Raises the same errors as `edit`, and `FieldsError` for a limit that would be lower than it is.
        """
        change = CollectionChange(limits=limits)
        check_roles(change, by)
        current = CollectionRecord.of(row)
        future = planned(current, change, plugins=self._plugins, ceilings=self._ceilings)
        if lower := [name for name in limits if _is_lower(limits[name], vars(current.limits)[name])]:
            raise FieldsError({f"limits.{name}": [LOWER] for name in lower})
        set_rules(row, future)
        changes = collection_changes(current, CollectionRecord.of(row))
        if changes.after:
            record(session, collection_event(EventKind.COLLECTION_EDITED, row.id, by=by, **asdict(changes)))

    def _set_storages(self, row: Collection, change: CollectionChange) -> None:
        storage = row.storage if change.storage is None else change.storage or None
        mirror = row.mirror if change.mirror is None else change.mirror or None
        if change.storage is not None or change.mirror is not None:
            self._storages.check_mirror(mirror, storage)
        row.storage, row.mirror = storage, mirror

    def delete(
        self,
        collection_id: str,
        *,
        by: Identity | None = None,
        simulate: bool = False,
        precondition: Precondition = None,
        with_versions: bool = False,
    ) -> CollectionRecord:
        """Delete a collection, into the trash. Raises `CollectionNotEmptyError` if it has versions.

        `with_versions` moves them into the trash, too, unless the trash is off. `precondition` is as for `edit`. Raises
        `PolicyRefusedError` or `PolicyFailedError` if a policy does not allow to delete the versions.
        """
        if with_versions:
            self._policies.check_deletion(
                collection_id, by=by, find=lambda session: (None, takes_last_good(session, collection_id))
            )

        def work(session: Session) -> RemovedCollection:
            row = find_collection(session, collection_id, lock=True)
            if precondition:
                precondition(CollectionRecord.of(row))
            return remove_collection(
                session, row, with_versions=with_versions, keep=self._keep, by=by, simulate=simulate
            )

        removed = self._database.write(work, may_use_reserve=True)
        deleted, what = removed.collection, describe(collection_values(removed.collection))
        if not simulate:
            log.info("collection %s: deleted by %s: %s", deleted.id, describe_actor(by), what)
        return deleted


def _record_edit(
    session: Session, collection_id: str, changes: Changes, upcoming: NextUpload | None, *, by: Identity
) -> None:
    data = asdict(changes)
    if upcoming:
        data["next_upload"] = {"evicts": upcoming.evicts, "refused": upcoming.refusal()}
    record(session, collection_event(EventKind.COLLECTION_EDITED, collection_id, by=by, **data))


def _is_lower(limit: int, current: int) -> bool:
    """Return whether a limit allows less than the current one; 0 is no limit."""
    return limit > 0 and (current == 0 or limit < current)
