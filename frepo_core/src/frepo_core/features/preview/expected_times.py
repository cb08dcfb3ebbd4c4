"""The endpoint of the times at which an expectation expects backups: a preview for forms and calendars."""

import itertools
from datetime import UTC, datetime

from pydantic import Field

from frepo_core.domain.schedules.backup_deadlines import MAX_TEXT, parse_expectation
from frepo_core.errors import FieldsError
from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.types import Moment, Time
from frepo_core.web.schemas.models import PageNumber, Query, Reply

MOST = 1000


class ExpectedTimesQuery(Query):
    """Which expectation, from when, and how many times."""

    every: str = Field(
        min_length=1,
        max_length=MAX_TEXT,
        description="As `expected_every` of a collection: a duration, or cron with a time zone.",
        examples=["0 2 * * * Europe/Warsaw"],
    )
    since: Moment | None = Field(None, description="The times from this one on. By default: from now on.")
    limit: PageNumber = Field(5, ge=1, le=MOST, description="How many times.")


class ExpectedTimes(Reply):
    """When backups are expected. It is not split into pages, so `next` is always null."""

    items: list[Time]
    next: str | None = None


def list_expected_times(request: FrepoRequest) -> Answer:
    """List when backups are expected: by cron, or after each duration from `since` on."""
    query = request.query_as(ExpectedTimesQuery)
    try:
        times = parse_expectation(query.every).times(query.since or datetime.now(UTC))
        found: list[datetime] = list(itertools.islice(times, query.limit))
    except (ValueError, OverflowError) as error:
        raise FieldsError({"every": [str(error)]}, FieldsError.FORM) from None
    return Answer(body=ExpectedTimes(items=found))


ENDPOINTS = [
    Endpoint(
        name="list_expected_times",
        method="GET",
        path=f"{V1}/expected-times",
        view=list_expected_times,
        summary="When an expectation expects backups",
        permission="token",
        query=ExpectedTimesQuery,
        answers={200: ExpectedTimes},
    ),
]
