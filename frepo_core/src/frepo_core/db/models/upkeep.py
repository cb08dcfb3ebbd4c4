"""The tables of the upkeep: values about the installation, marks of storages, and samples of sizes."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Boolean, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from ..types import RowId, exact
from .base import Base


class Installation(Base):
    """A named value about the installation that uses the database."""

    __tablename__ = "installation"

    name: Mapped[str] = mapped_column(exact(64), primary_key=True)
    value: Mapped[str] = mapped_column(String(255))


class StorageMark(Base):
    """A mark that this database left in a storage, see `services/content/storages/sweep_guard.py`.

    `is_stored` says that the storage has certainly received it. The rows stay when the marks are deleted. `made_at` is
    the time of the mark by the clock of the storage. `adopted_at` is set if an operator said with it that all blobs in
    the storage are this database's.
    """

    __tablename__ = "storage_mark"

    storage: Mapped[str] = mapped_column(exact(64), primary_key=True)
    epoch: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    nonce: Mapped[str] = mapped_column(exact(8))
    is_stored: Mapped[bool] = mapped_column(Boolean)
    made_at: Mapped[datetime]
    adopted_at: Mapped[datetime | None]


class Sample(Base):
    """The size of a collection at one time, or of the whole service: `collection_id` is null. One for each day.

    `size` of a collection is the sum of its versions, that of the service the sum of its blobs. `sent` (bytes) is what
    clients sent for what is stored: equal contents count each time. `uploads` and `refusals` are those since the sample
    of the day before. `trash` (bytes) is the size of what the trash can restore. These four are null for collections,
    and in samples from before migration 0014, or 0021. There is no foreign key: the samples of a deleted collection
    stay.
    """

    __tablename__ = "sample"
    __table_args__ = (Index("ix_sample_collection", "collection_id", "at"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
    collection_id: Mapped[str | None] = mapped_column(exact(36))
    versions: Mapped[int]
    size: Mapped[int]
    blobs: Mapped[int]
    sent: Mapped[int | None]
    uploads: Mapped[int | None]
    refusals: Mapped[int | None]
    trash: Mapped[int | None]


class PluginValue(Base):
    """A value of a plug-in under a key. `plugin` is the name of its entry point, `version` is new with each change."""

    __tablename__ = "plugin_value"

    plugin: Mapped[str] = mapped_column(exact(64), primary_key=True)
    key: Mapped[str] = mapped_column(exact(200), primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)
    version: Mapped[int]
    changed_at: Mapped[datetime]


class PluginRow(Base):
    """A copy of a row in a table of a plug-in that is recovered. The row is what counts, the copy is for a recovery.

    `row_key` is the primary key of the row as JSON, `data` are its columns, and `revision` is that of the plug-in's
    tables. `is_lacking` says that a recovery has brought the copy, and that the table does not have the row yet.
    """

    __tablename__ = "plugin_row"
    __table_args__ = (Index("ix_plugin_row_lacking", "is_lacking", "plugin"),)

    plugin: Mapped[str] = mapped_column(exact(64), primary_key=True)
    table_name: Mapped[str] = mapped_column(exact(128), primary_key=True)
    row_key: Mapped[str] = mapped_column(exact(200), primary_key=True)
    data: Mapped[dict[str, Any]]
    revision: Mapped[str] = mapped_column(exact(4))
    is_lacking: Mapped[bool] = mapped_column(Boolean, server_default="0")


class PluginRowChange(Base):
    """A row of a plug-in that has changed, or was deleted, since the journal was written."""

    __tablename__ = "plugin_row_change"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    plugin: Mapped[str] = mapped_column(exact(64))
    table_name: Mapped[str] = mapped_column(exact(128))
    row_key: Mapped[str] = mapped_column(exact(200))
