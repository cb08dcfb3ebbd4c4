"""What a fleet file would change, decided before anything is done: one that would be refused ends it here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Token
from frepo_core.domain.backups.guards import SAFE_GUARDS
from frepo_core.domain.token_expiry import problem_with_past
from frepo_core.errors import FieldsError, FrepoError
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.access.token_records import admin_token_key
from frepo_core.services.backups.collections.collections import Collections
from frepo_core.services.backups.rotation.strategy_options import check_options
from frepo_core.services.base.installation import find_origin
from frepo_core.services.base.records import CollectionRecord
from frepo_core.services.events.actors import console_identity
from frepo_core.settings import Settings
from frepo_core.web.v1.collections.models import collection_change

from .current import CurrentFleet, client_of, read_current
from .fleet_file import FleetCollection, FleetFile, FleetToken
from .values import Difference, changed, collection_values, differences, token_values

_OF_FILE = {"id", "tokens", "hold", "state", "fingerprint"}
NEW, GONE = "new", "absent"


@dataclass(frozen=True, kw_only=True)
class CollectionStep:
    """What to do with a collection: nothing is None or empty. `change` has the names of `/api/v1`.

    `hold` is the reason of a hold that is set, an empty text ends it. `grants` are keys of tokens of the file,
    `revokes` the keys of rows.
    """

    key: str
    id: str
    is_new: bool = False
    is_deleted: bool = False
    change: Mapping[str, Any] = field(default_factory=dict)
    is_adopted: bool = False
    hold: str | None = None
    grants: Sequence[str] = ()
    revokes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class TokenStep:
    """What to do with a token: `rows` are the fingerprints of those that there are, the newest last."""

    key: str
    wanted: FleetToken
    rows: Sequence[str] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    is_deleted: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What differs, and the steps in which that ends. `token_keys` are the keys of rows, by those of the file."""

    differences: Sequence[Difference]
    tokens: Sequence[TokenStep]
    collections: Sequence[CollectionStep]
    token_keys: Mapping[str, str]

    @property
    def new_tokens(self) -> Sequence[TokenStep]:
        """The tokens that are to be made."""
        return [one for one in self.tokens if not one.rows and not one.is_deleted]


class Planning:
    """Compares the database with a file."""

    def __init__(
        self, database: Database, settings: Settings, plugins: PluginRegistry, collections: Collections
    ) -> None:
        self._database = database
        self._plugins = plugins
        self._collections = collections
        self._admin_key = admin_token_key(settings)

    def read(self) -> CurrentFleet:
        """Read the fleet as it is."""
        origin = find_origin(self._database)
        with self._database.reading() as session:
            return read_current(session, origin, utc_now())

    def plan(self, file: FleetFile) -> Plan:
        """Return what has to be done. Raises `FieldsError` that names all that would be refused."""
        return _Comparison(self.read(), file, self._collections, self._plugins, self._admin_key).plan()


class _Comparison:
    """One comparison, with what it finds."""

    def __init__(
        self,
        current: CurrentFleet,
        file: FleetFile,
        collections: Collections,
        plugins: PluginRegistry,
        admin_key: str | None,
    ) -> None:
        self._current = current
        self._file = file
        self._collections = collections
        self._plugins = plugins
        self._admin_key = admin_key
        self._found: list[Difference] = []
        self._problems: list[str] = []
        self._rows: dict[str, Token] = {}
        self._taken: dict[str, str] = {}

    def plan(self) -> Plan:
        tokens = [self._token(key, wanted) for key, wanted in self._file.tokens.items()]
        collections = [self._collection(key, wanted) for key, wanted in self._file.collections.items()]
        if self._problems:
            raise FieldsError({"FILE": self._problems})
        return Plan(
            differences=self._found,
            tokens=[one for one in tokens if one is not None],
            collections=[one for one in collections if one is not None],
            token_keys={key: row.key for key, row in self._rows.items()},
        )

    def _token(self, key: str, wanted: FleetToken) -> TokenStep | None:
        rows = self._current.find_tokens(key, wanted)
        names = [one.fingerprint for one in rows]
        if rows and not self._take("tokens", key, rows[-1].key):
            return None
        if rows and rows[-1].key == self._admin_key:
            self._refuse("tokens", key, "is that of the setting security.admin_token: leave it out")
            return None
        if wanted.state == GONE:
            if rows:
                self._note("token", key, GONE, rows[-1].name or rows[-1].fingerprint, None)
            return TokenStep(key=key, wanted=wanted, rows=names, is_deleted=True) if rows else None
        sent = {name: value for name, value in wanted.changes().items() if name not in _OF_FILE}
        if problem := problem_with_past(sent.get("expires_at"), now=utc_now()):
            self._refuse("tokens", key, f"expires_at: {problem}")
            return None
        if not rows:
            return self._new_token(key, wanted, sent)
        if sent.get("expires_at"):
            sent["expires_at"] = sent["expires_at"].replace(microsecond=0)  # as `token_values`
        self._rows[key] = row = rows[-1]
        current = token_values(row)
        values = changed(sent | ({"roles": sorted(sent["roles"])} if "roles" in sent else {}), current)
        if "roles" in values:
            self._refuse("tokens", key, f"roles are {', '.join(current['roles'])}, and cannot be changed")
            return None
        self._found += differences("token", key, values, current)
        if not row.fleet_key:
            self._note("token", key, "key", None, key)
            values["fleet_key"] = key
        return TokenStep(key=key, wanted=wanted, rows=names, values=values) if values else None

    def _new_token(self, key: str, wanted: FleetToken, sent: Mapping[str, Any]) -> TokenStep | None:
        if wanted.fingerprint:
            known = "no valid token without a key has the fingerprint"
            self._refuse("tokens", key, f"{known} {wanted.fingerprint}")
            return None
        if not sent.get("roles"):
            self._refuse("tokens", key, "roles are missing: a new token needs some")
            return None
        self._note("token", key, NEW, None, sent.get("name") or key)
        return TokenStep(key=key, wanted=wanted)

    def _collection(self, key: str, wanted: FleetCollection) -> CollectionStep | None:
        record = self._current.find_collection(key, wanted)
        if not self._take("collections", key, record.id if record else self._current.id_of(key, wanted)):
            return None
        if wanted.state == GONE:
            return self._gone(key, record)
        sent = {name: value for name, value in wanted.changes().items() if name not in _OF_FILE}
        if record is None:
            return self._new_collection(key, wanted, sent)
        values, current = self._changed(key, sent, record), collection_values(record)
        self._found += differences("collection", key, values, current)
        if not record.fleet_key:
            self._note("collection", key, "key", None, key)
        if values:
            change = collection_change(values)
            self._try(
                key,
                lambda: self._collections.edit(record.id, change, by=console_identity(), simulate=True),
            )
        grants, revokes = self._list_of(key, wanted, record)
        hold = self._hold(key, wanted, record)
        if not (values or grants or revokes or hold is not None or not record.fleet_key):
            return None
        return CollectionStep(
            key=key,
            id=record.id,
            change=values,
            is_adopted=not record.fleet_key,
            hold=hold,
            grants=grants,
            revokes=revokes,
        )

    def _new_collection(self, key: str, wanted: FleetCollection, sent: Mapping[str, Any]) -> CollectionStep | None:
        if not sent.get("name"):
            self._refuse("collections", key, "name is missing: a new collection needs one")
            return None
        collection_id = self._current.id_of(key, wanted)
        if collection_id in self._current.collections:
            self._refuse("collections", key, f"the collection {collection_id} has another key")
            return None
        self._try(key, lambda: self._collections.check(collection_change(sent), default_guards=SAFE_GUARDS))
        self._note("collection", key, NEW, None, sent["name"])
        hold = wanted.hold.reason if wanted.hold else None
        if hold:
            self._note("collection", key, "hold", None, hold)
        grants = list(wanted.tokens or ())
        for one in grants:
            self._note("collection", key, "tokens", None, one)
        return CollectionStep(key=key, id=collection_id, is_new=True, change=sent, hold=hold, grants=grants)

    def _gone(self, key: str, record: CollectionRecord | None) -> CollectionStep | None:
        if record is None:
            return None
        self._note("collection", key, GONE, record.filename, None)
        self._try(
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
        clients = {client_of(self._rows[one]) for one in wanted.tokens if one in self._rows}
        grants = [one for one in wanted.tokens if one not in self._rows or client_of(self._rows[one]) not in listed]
        leaving = [token for client, tokens in listed.items() if client not in clients for token in tokens]
        leaving = [token for token in leaving if token.key != self._admin_key]  # no file can name it
        for one in grants:
            self._note("collection", key, "tokens", None, one)
        for token in leaving:
            self._note("collection", key, "tokens", token.fleet_key or token.name or token.fingerprint, None)
        return grants, [token.key for token in leaving]

    def _hold(self, key: str, wanted: FleetCollection, record: CollectionRecord) -> str | None:
        if "hold" not in wanted.model_fields_set:
            return None
        before, after = record.hold and record.hold.reason, wanted.hold and wanted.hold.reason
        if before == after:
            return None
        self._note("collection", key, "hold", before, after)
        return after or ""

    def _take(self, kind: str, key: str, thing: str) -> bool:
        """Note that a thing has this key; refuse the key if the file has another one for the thing."""
        if (other := self._taken.setdefault(thing, key)) != key:
            self._refuse(kind, key, f"is the same as {other}: a thing has one key")
        return other == key

    def _note(self, kind: str, key: str, what: str, before: Any, after: Any) -> None:
        self._found.append(Difference(kind=kind, key=key, what=what, before=before, after=after))

    def _try(self, key: str, attempt: Any) -> None:
        """Note why the service would refuse something."""
        try:
            attempt()
        except FrepoError as error:
            for one in (error, *error.others):
                self._refuse("collections", key, _text(one))

    def _refuse(self, kind: str, key: str, problem: str) -> None:
        self._problems.append(f"{kind}.{key}: {problem}")


def _text(error: FrepoError) -> str:
    """Return an error in one line."""
    if isinstance(error, FieldsError):
        fields = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in error.fields.items())
        return f"{fields} ({error.explanation})" if error.explanation else fields
    return error.explanation or error.sentence or error.message
