"""Finds and fills the rows of collections."""

from shlex import quote

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection
from frepo_core.db.prepared_statements import fetch
from frepo_core.domain.backups.baseline import Baseline
from frepo_core.domain.backups.guards import Guards
from frepo_core.domain.identity import parse_uuid4
from frepo_core.error_explanations import not_a_uuid
from frepo_core.errors import FieldsError

from ...base.records import CollectionRecord

# The incarnation of a collection, as entries of the trash name it.
INCARNATION = func.coalesce(Collection.incarnation, Collection.id)

_TABLE = Collection.__table__
_RECORD = select(_TABLE).where(_TABLE.c.id == bindparam("id"))
_TO_CHANGE = select(Collection).where(Collection.id == bindparam("id")).with_for_update()
_REMEDY = "`frepo backup:list -c Name -c Id` lists the collections"


def collection_not_found(collection_id: str) -> FieldsError:
    """Return the error for a collection that does not exist; its `explanation` says if the id is malformed."""
    malformed = parse_uuid4(collection_id.lower()) is None
    return FieldsError(
        {"collection": ["collection_no_longer_exists"]},
        explanation=not_a_uuid("collection") if malformed else None,
        remedy=_REMEDY,
    )


def find_collection(session: Session, collection_id: str, *, lock: bool = False) -> Collection:
    """Return the collection's row, locked with `lock`. Raises `FieldsError` if it does not exist."""
    query = select(Collection).where(Collection.id == parse_uuid4(collection_id.lower()))
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise collection_not_found(collection_id)
    return row


def read_collection(session: Session, collection_id: str) -> CollectionRecord:
    """Return the collection as it is now, without a model: at a third of the cost. Raises as `find_collection`."""
    rows = fetch(session.connection(), _RECORD, {"id": parse_uuid4(collection_id.lower())})
    if not rows:
        raise collection_not_found(collection_id)
    return CollectionRecord.of(rows[0])


def find_by_id_or_name(session: Session, name: str) -> Collection:
    """Return the row with an id, or the only one with a name, which is no id. Raises `FieldsError`."""
    if parse_uuid4(name.lower()) is not None:
        return find_collection(session, name)
    rows = session.scalars(select(Collection).where(Collection.filename == name).order_by(Collection.id)).all()
    if not rows:
        raise FieldsError({"collection": [f"no collection has the id or the name {name!r}"]}, remedy=_REMEDY)
    if len(rows) > 1:
        raise FieldsError(
            {"collection": [f"{len(rows)} collections are called {name!r}: give the id of one"]},
            remedy=f"`frepo backup:list --search {quote(name)} -c Id -c Name -c Versions -c Arrived` lists them",
        )
    return rows[0]


def lock_collection(session: Session, collection_id: str) -> Collection:
    """Return the collection's row, locked until the end of the transaction. Raises `FieldsError`."""
    row: Collection | None = session.scalar(_TO_CHANGE, {"id": collection_id})
    if row is None:
        raise collection_not_found(collection_id)
    return row


def set_guards(row: Collection, guards: Guards) -> None:
    """Set the columns of the guards. What a person changes is not measured by what was before."""
    if row.baseline and (guards.max_shrink_percent, guards.max_growth_percent) != (
        row.max_shrink_percent,
        row.max_growth_percent,
    ):
        row.baseline = Baseline.load(row.baseline).without_sizes().dump()
    if row.baseline and guards.max_decline_percent != row.max_decline_percent:
        row.baseline = Baseline.load(row.baseline).without_nights().dump()
    row.min_retention = int(guards.min_retention.total_seconds())
    row.min_version_size = guards.min_version_size
    row.max_shrink_percent = guards.max_shrink_percent
    row.max_growth_percent = guards.max_growth_percent
    row.max_decline_percent = guards.max_decline_percent
    row.expects_kind, row.expects_change = guards.expects_kind, guards.expects_change
    row.max_unchanged = int(guards.max_unchanged.total_seconds())
    row.guard_action = "keep" if guards.action == "mark" else guards.action


def set_rules(row: Collection, planned: CollectionRecord) -> None:
    """Set the columns of the limits, the guards, the strategy and its options."""
    limits = planned.limits
    row.max_backups_count, row.max_one_version_size, row.max_collection_size = (
        limits.versions,
        limits.version_size,
        limits.total_size,
    )
    row.strategy = planned.strategy
    row.strategy_options = None if planned.strategy_options is None else dict(planned.strategy_options)
    set_guards(row, planned.guards)
