"""Sets how often backups of a collection are expected, its labels, and when the next backup is due."""

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from frepo_core.db.models import Collection
from frepo_core.domain.schedules.backup_deadlines import parse_expectation, parse_grace
from frepo_core.domain.texts.labels import check_labels
from frepo_core.errors import FieldsError

if TYPE_CHECKING:
    from .collection_change import CollectionChange

log = logging.getLogger(__name__)


def set_expectation(row: Collection, change: "CollectionChange", *, now: datetime) -> None:
    """Set the values that are not None, and the deadline that follows. An empty text restores the default.

    Raises `FieldsError` that names all wrong values.
    """
    expected_every, grace, labels = change.expected_every, change.grace, change.labels
    problems: dict[str, list[str]] = {}
    if expected_every is not None:
        try:
            _set_expected_every(row, expected_every, now)
        except ValueError as error:
            problems["expected_every"] = [str(error)]
    if grace is not None:
        try:
            row.grace = int(parse_grace(grace).total_seconds()) if grace else None
        except ValueError as error:
            problems["grace"] = [str(error)]
    if labels is not None:
        try:
            row.labels = check_labels(labels) or None
        except ValueError as error:
            problems["labels"] = [str(error)]
    if problems:
        raise FieldsError(problems, FieldsError.FORM)
    set_deadline(row)


def set_deadline(row: Collection) -> None:
    """Set when the next backup of the collection is due, from its expectation and its last arrival."""
    if row.expected_every is None:
        row.due_at = row.overdue_at = None
        return
    try:
        deadline = parse_expectation(row.expected_every).deadline(
            created_at=row.created_at,
            arrived_at=row.arrived_at,
            since=row.expected_since or row.created_at,
            grace=None if row.grace is None else timedelta(seconds=row.grace),
        )
    except ValueError as error:
        # For example, the system does not know the time zone any more. An upload must not fail because of that, and
        # with the old deadline the collection becomes overdue, which somebody notices.
        log.error("collection %s: its next backup is expected at an unknown time: %s", row.id, error)
        return
    row.due_at, row.overdue_at = deadline.due_at, deadline.overdue_at


def set_arrived(row: Collection, at: datetime) -> None:
    """Note that a version arrived, which becomes the newest one."""
    row.arrived_at = at
    row.full_since = None
    set_deadline(row)


def set_arrived_before(row: Collection, at: datetime) -> None:
    """Note that a version that arrived at a time is there again, or counts now: nothing newer may have arrived."""
    row.full_since = None
    if row.arrived_at is None or row.arrived_at < at:
        row.arrived_at = at
        set_deadline(row)


def _set_expected_every(row: Collection, text: str, now: datetime) -> None:
    expected = parse_expectation(text).text if text else None
    if expected != row.expected_every:
        row.expected_every, row.expected_since = expected, now if expected else None
