"""The models of the holds of collections."""

from typing import Annotated, Self

from pydantic import Field

from frepo_core.domain.backups.holds import Hold
from frepo_core.services.backups.holds.holds import LONGEST_REASON
from frepo_core.services.base.records import CollectionRecord

from ...conventions.paging import PageReply
from ...conventions.types import Time, Whole
from ...schemas.models import Form, Reply


class CollectionHold(Reply):
    """A hold: since when, who has set it (the fingerprint of a token, or `console:` and a user), and why."""

    since: Time
    by: str
    reason: str

    @classmethod
    def of(cls, hold: Hold) -> Self:
        """Convert a hold."""
        return cls(since=hold.since, by=hold.by, reason=hold.reason)


class HeldCollection(Reply):
    """A collection on hold, with the number of its versions and their size in bytes."""

    collection: str
    collection_name: str
    versions: Whole
    stored_size: Whole
    hold: CollectionHold

    @classmethod
    def all_of(cls, records: "list[CollectionRecord]") -> "list[HeldCollection]":
        """Convert the records of collections on hold."""
        return [
            cls(
                collection=record.id,
                collection_name=record.filename,
                versions=record.versions_count,
                stored_size=record.stored_size,
                hold=CollectionHold.of(record.hold),
            )
            for record in records
            if record.hold is not None
        ]


class HoldPage(PageReply[HeldCollection]):
    """A page of collections on hold. `next` is the `cursor` of the next page, null on the last one."""


class NewHold(Form):
    """Why a collection is put on hold."""

    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON, examples=["audit of 2026, case 4711"])]
