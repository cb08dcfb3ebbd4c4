"""The tables of versions and of the checks of their contents."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    ColumnElement,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column, relationship

from ..types import JsonList, JsonObject, RowId, exact
from .base import Base
from .files import File


class Version(Base):
    """One version in a collection. A number is never used twice.

    `is_suspicious` says that the version violates a guard and was kept, so later versions are not compared with it. It
    is null for versions from before migration 0005.

    A `pinned` version is never deleted. The pin ends at `pinned_until`, if that is set, and `pin_reason` says why it is
    there. A version is in quarantine while `quarantined_at` is set; `quarantine_reason`
    is the code name of the guard's error, `check <name>`, or `overtaken`. A version is never both.

    Nobody removes a version before `locked_until`, see `frepo_core.domain.backups.locks`.
    A version that was restored from the trash is not evicted before `protected_until`.

    `verdict` is what is known about the version, see `frepo_core.domain.backups.verdicts`. While `pending_since` is
    set, a check that could condemn the version has not ended, and rotation waits: limits and strategies do not count
    it. `condemned_at` is when a check of the service found it broken after it had been accepted. A person released it
    at `released_at`. `sent_by` is the key of the first token of the chain of rotations of the one that sent it.
    `labels` are names that a plug-in has given it, with their values, see `VersionLabel`.
    """

    __tablename__ = "version"
    __table_args__ = (
        UniqueConstraint("collection_id", "number"),
        Index("ix_version_verdict", "verdict", "collection_id"),
        Index("ix_version_pinned", "pinned", "collection_id", "number"),
    )

    id: Mapped[str] = mapped_column(exact(36), primary_key=True)
    collection_id: Mapped[str] = mapped_column(exact(36), ForeignKey("collection.id"))
    number: Mapped[int]
    file_id: Mapped[int] = mapped_column(ForeignKey("file.id"), unique=True)
    created_at: Mapped[datetime]
    is_suspicious: Mapped[bool | None] = mapped_column(Boolean)
    pinned: Mapped[bool] = mapped_column(Boolean, server_default="0")
    pinned_until: Mapped[datetime | None] = mapped_column(index=True)
    pin_reason: Mapped[str] = mapped_column(String(1000), server_default=text("''"))
    quarantined_at: Mapped[datetime | None]
    quarantine_reason: Mapped[str | None] = mapped_column(exact(128))
    note: Mapped[str] = mapped_column(String(1000), server_default=text("''"))
    protected_until: Mapped[datetime | None]
    locked_until: Mapped[datetime | None] = mapped_column(index=True)
    verdict: Mapped[str] = mapped_column(exact(16), server_default="unchecked")
    verdict_reason: Mapped[str | None] = mapped_column(String(200))
    pending_since: Mapped[datetime | None] = mapped_column(index=True)
    condemned_at: Mapped[datetime | None]
    released_at: Mapped[datetime | None]
    released_by: Mapped[str | None] = mapped_column(exact(128))
    sent_by: Mapped[str | None] = mapped_column(exact(64))
    labels: Mapped[dict[str, Any] | None] = mapped_column(JsonObject(none_as_null=True))

    file: Mapped[File] = relationship()

    @hybrid_property
    def is_quarantined(self) -> bool:
        """Whether the version is in quarantine: limits, counters and strategies do not count it. Also a condition."""
        return self.quarantined_at is not None

    @is_quarantined.inplace.expression
    @classmethod
    def _is_quarantined(cls) -> ColumnElement[bool]:
        return cls.quarantined_at.is_not(None)

    @hybrid_property
    def is_counted(self) -> bool:
        """Whether limits and strategies count the version: not in quarantine, and not pending. Also a condition."""
        return self.quarantined_at is None and self.pending_since is None

    @is_counted.inplace.expression
    @classmethod
    def _is_counted(cls) -> ColumnElement[bool]:
        return cls.quarantined_at.is_(None) & cls.pending_since.is_(None)


class Retained(Base):
    """Until when a storage was told to keep the bytes of a locked version. `key` is that of an object."""

    __tablename__ = "retained"

    storage: Mapped[str] = mapped_column(String(64), primary_key=True)
    key: Mapped[str] = mapped_column(exact(255), primary_key=True)
    until: Mapped[datetime] = mapped_column(index=True)


class VersionLabel(Base):
    """A label of a version, by which it is found. `Version.labels` has all of them."""

    __tablename__ = "version_label"
    __table_args__ = (Index("ix_version_label_value", "collection_id", "name", "value"),)

    version_id: Mapped[str] = mapped_column(exact(36), ForeignKey("version.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    value: Mapped[str] = mapped_column(exact(200))
    collection_id: Mapped[str] = mapped_column(exact(36))


class VersionCheck(Base):
    """The result of a check of a version's content: one for each check, replaced by a later result.

    `outcome` is `good`, `suspicious`, `broken`, `pending` or `not checked`. `actor` is as in an event: for what a
    plug-in found when the version arrived, it is the sender. `is_of_service` says that the service or a plug-in found
    it, not a client; it is false for results from before migration 0027, too. `covers` is `container` or `content`: how
    far a good result goes. `attempts` is how often a pending check was tried in vain.
    """

    __tablename__ = "version_check"
    __table_args__ = (Index("ix_version_check_queue", "name", "outcome", "at", "version_id"),)

    version_id: Mapped[str] = mapped_column(exact(36), ForeignKey("version.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    outcome: Mapped[str] = mapped_column(exact(16))
    message: Mapped[str] = mapped_column(Text)
    # Loaded only on request: clients write them.
    details: Mapped[dict[str, Any]] = mapped_column(deferred=True, deferred_raiseload=True)
    at: Mapped[datetime]
    actor: Mapped[str] = mapped_column(exact(128))
    is_of_service: Mapped[bool] = mapped_column(Boolean, server_default="0")
    covers: Mapped[str | None] = mapped_column(exact(16))
    attempts: Mapped[int] = mapped_column(server_default="0")


class Run(Base):
    """A run of a backup job, as its client has reported it at `at`. The newest ones of each collection are kept.

    `outcome` is `ok`, `failed` or `skipped`. `started_at` is by the clock of the client. `version_number` is the
    version that the run is about. `actor` is as in an event. `measured` are numbers of the source, by name. There is no
    foreign key: a deleted collection can be restored.
    """

    __tablename__ = "run"
    __table_args__ = (Index("ix_run_incarnation", "incarnation", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    incarnation: Mapped[str] = mapped_column(exact(36))
    at: Mapped[datetime] = mapped_column(index=True)
    outcome: Mapped[str] = mapped_column(exact(16))
    reason: Mapped[str] = mapped_column(String(200))
    started_at: Mapped[datetime | None]
    seconds: Mapped[int | None]
    exit_statuses: Mapped[list[Any]] = mapped_column(JsonList)
    error_output: Mapped[str] = mapped_column(Text)
    host: Mapped[str] = mapped_column(String(255))
    client: Mapped[str] = mapped_column(String(255))
    version_number: Mapped[int | None]
    sha256: Mapped[str | None] = mapped_column(exact(64))
    actor: Mapped[str] = mapped_column(exact(128))
    measured: Mapped[dict[str, Any] | None] = mapped_column(JsonObject(none_as_null=True))
