"""The newest good version of a collection: what a restore gets."""

from collections.abc import Collection as Group
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from frepo_core.db.build_once import build_once
from frepo_core.db.models import Collection, Content, File, Version
from frepo_core.domain.structs import struct

from ...content.objects.uses import is_lost
from .verdicts import is_good


@struct
class GoodVersion:
    """The number of a version, its size in bytes, and when it was added (UTC, aware)."""

    number: int
    size: int
    created_at: datetime


def newest_good(column: InstrumentedAttribute[Any]) -> Any:
    """Return the expression of a column of the newest good version of `Collection`; null if it has none.

    It reads the versions of a collection from the newest one on, up to the first good one.
    """
    query = select(column).where(Version.collection_id == Collection.id, is_good(), _is_sound())
    return query.order_by(Version.number.desc()).limit(1).correlate(Collection).scalar_subquery()


def read_newest_good(session: Session, ids: Group[str]) -> dict[str, GoodVersion]:
    """Return the newest good version of each of these collections that has one."""
    rows = session.execute(_query(), {"ids": list(ids)})
    return {row.collection_id: GoodVersion(number=row.number, size=row.size, created_at=row.created_at) for row in rows}


@build_once
def _query() -> Select[str, int, datetime, int]:
    wanted = Collection.id.in_(bindparam("ids", expanding=True))
    newest = select(Collection.id, newest_good(Version.number).label("number")).where(wanted).subquery()
    is_it = (newest.c.id == Version.collection_id) & (newest.c.number == Version.number)
    query = select(Version.collection_id, Version.number, Version.created_at, Content.size).join(newest, is_it)
    return query.join(File, File.id == Version.file_id).join(Content, Content.id == File.content_id)


def takes_last_good(session: Session, collection_id: str, number: int | None = None) -> bool:
    """Return whether the deletion of a version, or of all, takes the only good version of a collection."""
    query = select(Version.number).where(Version.collection_id == collection_id, is_good(), _is_sound())
    good = session.scalars(query.order_by(Version.number.desc()).limit(2)).all()
    return bool(good) if number is None else good == [number]


def takes_all_good(session: Session, collection_id: str, numbers: Group[int]) -> bool:
    """Return whether the deletion of these versions takes all good versions of a collection that has some."""
    query = select(Version.number).where(Version.collection_id == collection_id, is_good(), _is_sound())
    has_some = session.scalar(query.where(Version.number.in_(numbers)).limit(1)) is not None
    return has_some and session.scalar(query.where(Version.number.not_in(numbers)).limit(1)) is None


def _is_sound() -> ColumnElement[bool]:
    """Return the condition that the bytes of a version are not known to be damaged."""
    damaged = select(File.id).where(File.content_id.in_(select(Content.id).where(is_lost())))
    return Version.file_id.not_in(damaged)
