"""Reads what collections have in common: the hosts and networks that send to them, and their storages."""

import ipaddress
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, CollectionToken, Run, Token
from frepo_core.domain.backups.common_cause import MASS, find_common_cause
from frepo_core.domain.permissions import is_administrator

from ..access.token_records import identity_of
from ..backups.collections.states import StateRecord
from ..base.records import CollectionRecord

HOST = "host:"
_PREFIX = {4: 24, 6: 64}
Failure = tuple[CollectionRecord, StateRecord]


def describe_common_cause(database: Database, failures: Sequence[Failure], first_storage: str) -> str | None:
    """Return what nearly all of many failures have in common, as words such as `of the host db7`; None without that."""
    if len(failures) < MASS:
        return None
    with database.reading() as session:
        facts = _read_facts(session, first_storage)
    since = {collection.id: state.since for collection, state in failures}
    failed = [facts.get(one, {}) | _hour(at) for one, at in since.items()]
    found = find_common_cause(failed, [values for one, values in facts.items() if one not in since])
    return _TEXTS[found[0]].format(found[1]) if found else None


_TEXTS = {
    "host": "of the host {}",
    "storage": "in the storage {}",
    "network": "sent from the network {}",
    "hour": "since the hour from {} UTC",
}


def read_hosts_of_runs(session: Session) -> Mapping[str, str]:
    """Return the host that the last report of a run has named, by the incarnation of the collection."""
    newest = select(func.max(Run.id)).where(Run.host != "").group_by(Run.incarnation)
    query = select(Run.incarnation, Run.host).where(Run.id.in_(newest))
    return {row.incarnation: row.host for row in session.execute(query)}


def host_of_labels(labels: Sequence[str] | None) -> str:
    """Return the host that a label names, empty without one."""
    return next((one.removeprefix(HOST).strip() for one in labels or () if one.startswith(HOST) and one != HOST), "")


def _read_facts(session: Session, first_storage: str) -> dict[str, dict[str, str]]:
    """Return what is known about each collection, by its id. Three statements."""
    of_runs, senders = read_hosts_of_runs(session), _read_senders(session)
    columns = (Collection.id, Collection.incarnation, Collection.storage, Collection.labels)
    found: dict[str, dict[str, str]] = {}
    for row in session.execute(select(*columns)):
        name, address = senders.get(row.id, ("", None))
        host = host_of_labels(row.labels) or of_runs.get(row.incarnation or row.id) or name
        values = {"host": host, "storage": row.storage or first_storage, "network": _network(address)}
        found[row.id] = {what: value for what, value in values.items() if value}
    return found


def _read_senders(session: Session) -> Mapping[str, tuple[str, str | None]]:
    """Return the name and the address of the token on each list that was used last; no administrator's."""
    query = select(CollectionToken.collection_id, Token).join(Token, Token.key == CollectionToken.token_key)
    rows = session.execute(query.where(Token.last_used_at.is_not(None)).order_by(Token.last_used_at))
    return {
        collection: (token.name, token.last_used_from)
        for collection, token in rows
        if not is_administrator(identity_of(token))
    }


def _network(address: str | None) -> str:
    try:
        parsed: Any = ipaddress.ip_address(address or "")
    except ValueError:
        return ""
    return str(ipaddress.ip_network((parsed, _PREFIX[parsed.version]), strict=False))


def _hour(at: datetime | None) -> dict[str, str]:
    return {"hour": f"{at:%Y-%m-%d %H}:00"} if at else {}
