"""Copies results of checks to the trash and back within the database: nobody loads their details."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Text, cast, insert, select
from sqlalchemy.orm import Session

from frepo_core.db.models import TrashCheck, TrashEntry, VersionCheck

_COLUMNS = ("name", "outcome", "message", "details", "at", "actor", "is_of_service", "covers", "attempts")


def keep_checks(session: Session, incarnation: str, numbers: Sequence[int]) -> None:
    """Copy the results of versions to their entries, which are inserted already. The versions are not deleted yet."""
    found = select(TrashEntry.id, *_columns(VersionCheck)).join(
        VersionCheck, VersionCheck.version_id == TrashEntry.version_id
    )
    found = found.where(TrashEntry.incarnation == incarnation, TrashEntry.number.in_(numbers))
    session.execute(insert(TrashCheck).from_select(["trash_id", *_COLUMNS], found))


def give_checks_back(session: Session, entry: TrashEntry) -> None:
    """Copy the results of an entry to its version, which is inserted already."""
    kept = select(TrashEntry.version_id, *_columns(TrashCheck)).join(TrashCheck, TrashCheck.trash_id == TrashEntry.id)
    kept = kept.where(TrashEntry.id == entry.id)
    session.execute(insert(VersionCheck).from_select(["version_id", *_COLUMNS], kept))
    _give_earlier_back(session, entry)


def _give_earlier_back(session: Session, entry: TrashEntry) -> None:
    """Insert the results that code from before migration 0026 has kept within the entry."""
    query = select(TrashEntry.checks).where(TrashEntry.id == entry.id, cast(TrashEntry.checks, Text) != "[]")
    if checks := session.scalar(query):
        rows = [{**one, "version_id": entry.version_id, "at": datetime.fromisoformat(one["at"])} for one in checks]
        session.execute(insert(VersionCheck), rows)


def _columns(model: type[VersionCheck | TrashCheck]) -> list[Any]:
    return [getattr(model, name) for name in _COLUMNS]
