"""What a fleet file would change, decided before anything is done: one that would be refused ends it here."""

from collections.abc import Mapping, Sequence
from typing import Any

from frepo_core.db import Database, utc_now
from frepo_core.domain.backups.guards import SAFE_GUARDS
from frepo_core.errors import FrepoError
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.access.token_records import admin_token_key
from frepo_core.services.backups.collections.collections import Collections
from frepo_core.services.backups.rotation.strategy_options import check_options
from frepo_core.services.base.installation import find_origin
from frepo_core.services.base.records import CollectionRecord
from frepo_core.services.events.actors import console_identity
from frepo_core.settings import Settings
from frepo_core.web.v1.collections.models import collection_change

from ..restore_tests.choices import Choice, RestoreChoices
from .current import CurrentFleet, client_of, read_current
from .fleet_file import FleetCollection, FleetFile
from .plan import GONE, NEW, OF_FILE, CollectionStep, Findings, Plan
from .token_planning import TokenPlanning
from .values import changed, choice_values, collection_values, differences


class Planning:
    """Compares the database with a file."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        plugins: PluginRegistry,
        collections: Collections,
        choices: RestoreChoices,
    ) -> None:
        self._database = database
        self._plugins = plugins
        self._collections = collections
        self._choices = choices
        self._admin_key = admin_token_key(settings)

    def read(self) -> CurrentFleet:
        """Read the fleet as it is."""
        origin = find_origin(self._database)
        with self._database.reading() as session:
            return read_current(session, origin, utc_now(), self._choices.all(session))

    def plan(self, file: FleetFile) -> Plan:
        """Return what has to be done. Raises `FieldsError` that names all that would be refused."""
        return _Comparison(self.read(), file, self._collections, self._choices, self._plugins, self._admin_key).plan()


class _Comparison:
    """One comparison, with what it finds."""

    def __init__(
        self,
        current: CurrentFleet,
        file: FleetFile,
        collections: Collections,
        choices: RestoreChoices,
        plugins: PluginRegistry,
        admin_key: str | None,
    ) -> None:
        self._current = current
        self._file = file
        self._collections = collections
        self._plugins = plugins
        self._admin_key = admin_key
        self._choices = choices
        self._found = Findings()
        self._tokens = TokenPlanning(current, file, self._found, admin_key)

    def plan(self) -> Plan:
        tokens = [self._tokens.plan(key, wanted) for key, wanted in self._file.tokens.items()]
        collections = [self._collection(key, wanted) for key, wanted in self._file.collections.items()]
        self._found.require_none_refused()
        return Plan(
            differences=self._found.differences,
            tokens=[one for one in tokens if one is not None],
            collections=[one for one in collections if one is not None],
            codes=list(self._tokens.codes.values()),
            token_keys={key: row.key for key, row in self._tokens.rows.items()},
        )

    def _collection(self, key: str, wanted: FleetCollection) -> CollectionStep | None:
        record = self._current.find_collection(key, wanted)
        if not self._found.take("collections", key, self._current.place_of(key, wanted)):
            return None
        if wanted.state == GONE:
            return self._gone(key, record)
        sent = {name: value for name, value in wanted.changes().items() if name not in OF_FILE}
        if record is None:
            return self._new_collection(key, wanted, sent)
        values, current = self._changed(key, sent, record), collection_values(record)
        self._found.differences += differences("collection", key, values, current)
        if not record.fleet_key:
            self._found.note("collection", key, "key", None, key)
        if values:
            change = collection_change(values)
            self._found.attempt(
                key,
                lambda: self._collections.edit(record.id, change, by=console_identity(), simulate=True),
            )
        grants, revokes = self._list_of(key, wanted, record)
        hold = self._hold(key, wanted, record)
        choice = self._choice(key, wanted, record.id, values.get("labels", record.labels))
        if not (values or grants or revokes or choice or hold is not None or not record.fleet_key):
            return None
        return CollectionStep(
            key=key,
            id=record.id,
            change=values,
            is_adopted=not record.fleet_key,
            hold=hold,
            grants=grants,
            revokes=revokes,
            choice=choice,
        )

    def _new_collection(self, key: str, wanted: FleetCollection, sent: Mapping[str, Any]) -> CollectionStep | None:
        if not sent.get("name"):
            self._found.refuse("collections", key, "name is missing: a new collection needs one")
            return None
        collection_id = self._current.id_of(key, wanted)
        if collection_id in self._current.collections:
            self._found.refuse("collections", key, f"the collection {collection_id} has another key")
            return None
        self._found.attempt(key, lambda: self._collections.check(collection_change(sent), default_guards=SAFE_GUARDS))
        self._found.note("collection", key, NEW, None, sent["name"])
        hold = wanted.hold.reason if wanted.hold else None
        if hold:
            self._found.note("collection", key, "hold", None, hold)
        grants = [one for one in wanted.tokens or () if one not in self._tokens.waiting]
        for one in grants:
            self._found.note("collection", key, "tokens", None, one)
        choice = self._choice(key, wanted, collection_id, sent.get("labels", ()))
        return CollectionStep(
            key=key, id=collection_id, is_new=True, change=sent, hold=hold, grants=grants, choice=choice
        )

    def _gone(self, key: str, record: CollectionRecord | None) -> CollectionStep | None:
        if record is None:
            return None
        self._found.note("collection", key, GONE, record.filename, None)
        self._found.attempt(
            key,
            lambda: self._collections.delete(
                record.id, by=console_identity(), simulate=True, with_versions=bool(record.last_number)
            ),
        )
        return CollectionStep(key=key, id=record.id, is_deleted=True)

    def _changed(self, key: str, sent: Mapping[str, Any], record: CollectionRecord) -> dict[str, Any]:
        """Return the values that differ. Options of a strategy are compared as they would be stored."""
        values = dict(sent)
        if "strategy_options" in values:
            strategy, options = values.get("strategy") or record.strategy, values["strategy_options"]
            try:
                stored = check_options(self._plugins, strategy, options)
                values["strategy_options"] = dict(stored) if stored else stored
            except FrepoError:  # the attempt says why
                pass
        return changed(values, collection_values(record))

    def _list_of(
        self, key: str, wanted: FleetCollection, record: CollectionRecord
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Return the tokens of the file that are missing on the list, and those on the list that the file lacks."""
        if wanted.tokens is None:
            return (), ()
        listed = self._current.clients_of(record.id)
        rows, new = self._tokens.rows, [one for one in wanted.tokens if one not in self._tokens.waiting]
        grants = [one for one in new if one not in rows or client_of(rows[one]) not in listed]
        clients = {client_of(rows[one]) for one in wanted.tokens if one in rows}
        leaving = [token for client, tokens in listed.items() if client not in clients for token in tokens]
        leaving = [token for token in leaving if token.key != self._admin_key]  # no file can name it
        for one in grants:
            self._found.note("collection", key, "tokens", None, one)
        for token in leaving:
            self._found.note("collection", key, "tokens", token.fleet_key or token.name or token.fingerprint, None)
        return grants, [token.key for token in leaving]

    def _choice(self, key: str, wanted: FleetCollection, collection_id: str, labels: Sequence[str]) -> Choice | None:
        if "restore_tests" not in wanted.model_fields_set:
            return None
        choice = wanted.restore_tests.choice() if wanted.restore_tests else Choice()
        before, after = choice_values(self._current.choices.get(collection_id, Choice())), choice_values(choice)
        if before == after:
            return None
        self._found.attempt(key, lambda: self._choices.check(choice, labels))
        for name in [name for name in after if before[name] != after[name]]:
            self._found.note("collection", key, f"restore_tests.{name}", before[name], after[name])
        return choice

    def _hold(self, key: str, wanted: FleetCollection, record: CollectionRecord) -> str | None:
        if "hold" not in wanted.model_fields_set:
            return None
        before, after = record.hold and record.hold.reason, wanted.hold and wanted.hold.reason
        if before == after:
            return None
        self._found.note("collection", key, "hold", before, after)
        return after or ""
