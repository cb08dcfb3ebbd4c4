"""Which storage is the first one: that of `fs.adapter`, unless another one was promoted after its loss."""

import logging
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select, text
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Content, Installation, StoredObject
from frepo_core.db.prepared_statements import change
from frepo_core.db.row_inserts import insert_of
from frepo_core.domain.structs import struct

from ...base.installation import ID
from .backends import Backends

log = logging.getLogger(__name__)

# The name of the value in the table `installation`.
NAME = "first_storage"
_ROW = Installation.__table__
_VALUE = select(_ROW.c.value).where(_ROW.c.name == NAME)
# The lock of PostgreSQL has a number, made from the letters "frepo". MariaDB locks a row that each database has.
_NUMBER = int.from_bytes(b"frepo")
_LOCK, _SHARED_LOCK = (text(f"SELECT pg_advisory_xact_lock{kind}({_NUMBER})") for kind in ("", "_shared"))
_CONTENT, _OBJECT = Content.__table__, StoredObject.__table__
_VALUES = ("storage", "key", "state", "slot", "since", "stored_at", "read_at")
_INSERT = insert_of(StoredObject).from_select(
    ["content_id", "digest", "size", *_VALUES],
    select(
        _CONTENT.c.id,
        _CONTENT.c.digest,
        _CONTENT.c.size,
        *(bindparam(name, type_=_OBJECT.c[name].type) for name in _VALUES),
    ).where(
        _CONTENT.c.digest == bindparam("digest"),
        func.coalesce(_VALUE.scalar_subquery(), "") == bindparam("promotion"),
    ),
    include_defaults=False,
)
# Without this, the number of rows of an INSERT is unknown (-1) with psycopg.
_INSERT = _INSERT.execution_options(preserve_rowcount=True)
_ID = select(_ROW.c.value).where(_ROW.c.name == ID)


@struct
class Promotion:
    """The storage that was promoted last, instead of the storage `former`, and when (UTC, aware).

    `epoch` is the number of promotions so far.
    """

    storage: str
    former: str
    epoch: int
    at: datetime

    def as_text(self) -> str:
        """Return the value of the row."""
        return f"{self.epoch} {self.storage} {self.former} {self.at.isoformat()}"

    @classmethod
    def parse(cls, text: str) -> "Promotion":
        """Read the value of the row."""
        epoch, storage, former, at = text.split()
        return cls(storage=storage, former=former, epoch=int(epoch), at=datetime.fromisoformat(at))


def read_promotion(session: Session) -> Promotion | None:
    """Return the last promotion, None if there was none."""
    value = session.scalar(_VALUE)
    return None if value is None else Promotion.parse(value)


def store_promotion(session: Session, *, storage: str, former: str, now: datetime) -> Promotion:
    """Make a storage the first one, in the transaction: the processes compare the row before they commit an upload."""
    row = session.scalar(select(Installation).where(Installation.name == NAME).with_for_update())
    epoch = Promotion.parse(row.value).epoch if row else 0
    made = Promotion(storage=storage, former=former, epoch=epoch + 1, at=now)
    session.merge(Installation(name=NAME, value=made.as_text()))
    return made


def hold_promotion(session: Session, backends: Backends, *, is_exclusive: bool = False) -> None:
    """Let no promotion happen until the transaction ends; `is_exclusive`: wait for all that have called this.

    Without it, an upload could be committed in the former storage after the promotion. Call it before the row is read.
    SQLite has one writer at a time, and a service with one storage has no promotions: they pay nothing.
    """
    if len(backends.configured) == 1:
        return
    name = session.get_bind().dialect.name
    if name == "postgresql":  # a row that each upload locks would be written to by each
        session.execute(_LOCK if is_exclusive else _SHARED_LOCK)
    elif name != "sqlite":
        session.execute(_ID.with_for_update(read=not is_exclusive))


def insert_if_current(session: Session, backends: Backends, digest: str, values: Mapping[str, Any]) -> bool:
    """Insert the object of an upload, whose content has a row, unless another storage was promoted meanwhile.

    Then follow the promotion and return False. One statement does both, because each upload waits for it.
    """
    known = {**values, "digest": digest, "promotion": backends.promotion}
    if change(session.connection(), _INSERT, known):
        return True
    follow(session, backends)
    return False


def follow(session: Session, backends: Backends) -> None:
    """Let this process store new contents in the storage that was promoted last."""
    promotion = read_promotion(session)
    backends.promotion = promotion.as_text() if promotion else ""
    epoch = promotion.epoch if promotion else 0
    if epoch == backends.epoch:
        return
    if promotion is None:  # the database was restored from a backup
        backends.follow(backends.setting, former=None, epoch=0)
    else:
        backends.follow(promotion.storage, former=promotion.former, epoch=promotion.epoch)
    log.info("the storage %s is the first one now", backends.current)


def follow_promotion(database: Database, backends: Backends) -> None:
    """Do this outside of a transaction."""
    with database.reading() as session:
        follow(session, backends)


def find_differences(backends: Backends, mirror: str) -> Iterator[tuple[str, str]]:
    """Yield how the settings differ from a promotion, each time with what to do. `mirror` is the setting."""
    if backends.current == backends.setting:
        return
    difference = (
        f"The storage {backends.current!r} was promoted, so it is the first one, and not {backends.setting!r} as the "
        "setting fs.adapter (FS_ADAPTER) says"
    )
    yield difference, f"Set fs.adapter = {backends.current} in the settings of each process, and restart it"
    if mirror == backends.current:
        difference = (
            f"Second copies are made in {backends.former!r}, and not in {mirror!r} as the setting mirror (MIRROR) "
            "says, because that is the first storage now"
        )
        yield difference, f"Set mirror = {backends.former}, or name another storage there"
