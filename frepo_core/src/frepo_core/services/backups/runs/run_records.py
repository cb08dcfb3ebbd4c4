"""Records of runs, and pages of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import Run
from frepo_core.domain.backups.runs import RunOutcome
from frepo_core.domain.structs import struct

from ...base.keyset import Page, PageRequest, cut, paged
from ..rows.collection_rows import find_collection
from ..rows.removal import incarnation_of


@struct
class RunRecord:
    """A run that a client reported `at` a time (UTC, aware). `started_at` is by the client's clock.

    `version_number` is the version that the run is about, None if there is none that the same client has sent.
    """

    id: int
    at: datetime
    outcome: RunOutcome
    reason: str
    started_at: datetime | None
    seconds: int | None
    exit_statuses: Sequence[int]
    error_output: str
    host: str
    client: str
    version_number: int | None
    sha256: str | None
    actor: str
    measured: Mapping[str, float] | None

    @classmethod
    def of(cls, row: Run) -> "RunRecord":
        """Make a record of a row."""
        return cls(**{name: getattr(row, name) for name in cls.__dataclass_fields__})


class Runs:
    """Lists runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, collection_id: str, page: PageRequest, outcomes: Sequence[RunOutcome] = ()) -> Page[RunRecord]:
        """Return a page of the runs of a collection, the newest first; `outcomes`: only these. Raises `FieldsError`."""
        with self._database.reading() as session:
            incarnation = incarnation_of(find_collection(session, collection_id))
            query = select(Run).where(Run.incarnation == incarnation)
            if outcomes:
                query = query.where(Run.outcome.in_(outcomes))
            page = replace(page, is_descending=True)
            rows = session.scalars(paged(query, page, [Run.id])).all()
            return cut([RunRecord.of(row) for row in rows], page, lambda run: [run.id])
