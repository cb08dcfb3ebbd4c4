"""The counters of a collection: what they count, and counting again, within a transaction."""

from typing import Any

from sqlalchemy import Select, func, select, true, update
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, Content, File, Version

_CONDITIONS = {
    ("versions_count", "stored_size"): Version.is_counted,
    ("pinned_count", "pinned_size"): Version.is_counted & Version.pinned.is_(true()),
    ("quarantined_count", "quarantined_size"): Version.quarantined_at.is_not(None),
    ("pending_count", "pending_size"): Version.pending_since.is_not(None),
}
COUNTERS = tuple(name for names in _CONDITIONS for name in names)


def count_again(session: Session) -> None:
    """Set the counters of all collections to what their versions say. No number is given again."""
    values = {}
    for (count, size), condition in _CONDITIONS.items():
        values[count] = _of_versions(func.count()).where(condition).scalar_subquery()
        values[size] = _of_versions(func.coalesce(func.sum(Content.size), 0)).where(condition).scalar_subquery()
    greatest = _of_versions(func.coalesce(func.max(Version.number), 0)).scalar_subquery()
    session.execute(update(Collection).values(values))
    session.execute(update(Collection).where(Collection.last_number < greatest).values(last_number=greatest))


def _of_versions(figure: Any) -> Select[Any]:
    rows = select(figure).select_from(Version).join(File).join(Content, Content.id == File.content_id)
    return rows.where(Version.collection_id == Collection.id).correlate(Collection)
