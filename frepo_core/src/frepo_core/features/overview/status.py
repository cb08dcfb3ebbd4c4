"""Answers whether anything is wrong: with the service itself, its jobs, and the backups in it."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain

from frepo_core.db import utc_now
from frepo_core.domain.texts.counts import counted
from frepo_core.services.backups.collections.states import NOT_WELL, Severity, severity_of
from frepo_core.services.composition.core_services import CoreServices
from frepo_core.services.content.storages.first_storage import find_differences
from frepo_core.services.reports.common_causes import Failure, describe_common_cause
from frepo_core.services.reports.figures import StatusLine
from frepo_core.services.reports.health.core_checks import PROBLEMS
from frepo_core.services.reports.job_health import JobsFailError, check_worker
from frepo_core.services.reports.restore_ages import RestoreAges

from .feature import OverviewServices
from .overview import NAMED

UNTESTED_NAMED = 3
UNCHANGED_NAMED = 3
MASS_NAMED = 3


MOST = 100_000


def read_status(services: CoreServices, *, names_all: bool = False) -> Sequence[StatusLine]:
    """Run all health checks and look at all collections; return what was found.

    A mass failure with a common cause is one line, unless all are to be named.
    """
    lines = (
        _service_lines(services),
        *(each.lines() for each in services.figures),
        _untested_lines(services.restore_ages),
        _unchanged_lines(services),
    )
    return [*chain(*lines), *_collection_lines(services, names_all=names_all)]


def _service_lines(services: CoreServices) -> Iterator[StatusLine]:
    problems = {name: list(texts) for name, texts in services.health.run(is_logged=False).items()}
    if not problems.get("database") and not problems.get("worker") and not services.settings.read_only:
        # The health check gives the worker of a new process time to begin. This may be a process of `frepo`.
        try:
            check_worker(services.database)
        except JobsFailError as error:
            problems["worker"] = [error.message]
    problems.pop(PROBLEMS, None)  # the lines of collections say more
    for name, texts in problems.items():
        severity = Severity.CRITICAL if texts else Severity.OK
        yield StatusLine(subject=name, severity=severity, text="; ".join(texts))
    for difference, remedy in find_differences(services.backends, services.settings.mirror):
        yield StatusLine(subject="settings", severity=Severity.WARNING, text=f"{difference}. {remedy}")


def _untested_lines(ages: RestoreAges) -> Iterator[StatusLine]:
    found, now = ages.find_untested(UNTESTED_NAMED), utc_now()
    if found.number:
        named = [f"{one.filename}: {describe_age(one.restore_tested_at, now)}" for one in found.collections]
        more = [f"and {found.number - len(named)} more, see `frepo status --untested`"]
        text = "; ".join(named + more if found.number > len(named) else named)
        yield StatusLine(subject="restore tests", severity=Severity.OK, text=text)


def _unchanged_lines(services: CoreServices) -> Iterator[StatusLine]:
    """Yield which collections get the same content for a week or longer. That is no problem: nobody may write there."""
    found = services.collection_states.unchanged(UNCHANGED_NAMED)
    if found.number:
        named = [f"{one.filename}: unchanged for {one.unchanged_nights} nights" for one in found.collections]
        more = [f"and {found.number - len(named)} more, see `frepo backup:list --unchanged {found.nights}`"]
        text = "; ".join(named + more if found.number > len(named) else named)
        yield StatusLine(subject="unchanged", severity=Severity.OK, text=text)


def _collection_lines(services: CoreServices, *, names_all: bool) -> Iterator[StatusLine]:
    overview = services.feature(OverviewServices).overviews.read()
    counts = {state: number for state, number in overview.collections.by_state.items() if number}
    severity = max((severity_of(state) for state in counts), default=Severity.OK)
    text = ", ".join(f"{number} {state.value}" for state, number in counts.items()) or "none"
    yield StatusLine(subject="collections", severity=severity, text=text)
    for name in overview.failing_jobs:
        text = "its last run failed, see `frepo jobs`"
        yield StatusLine(subject=f"job {name}", severity=Severity.CRITICAL, text=text)
    found = services.collection_states.in_states(NOT_WELL, MOST)
    cause = describe_common_cause(services.database, found, services.backends.current)
    if cause and not names_all:
        named = ", ".join(one.filename for one, _ in found[:MASS_NAMED])
        text = f"{len(found)} are not well, nearly all {cause}: {named}, …; `frepo status --all` lists them"
        yield StatusLine(subject="common cause", severity=severity_of(found[0][1].state), text=text)
        return
    named_here = len(found) if names_all else NAMED
    yield from _named_lines(found, named_here)


def _named_lines(found: Sequence[Failure], most: int) -> Iterator[StatusLine]:
    for collection, state in found[:most]:
        yield StatusLine(
            subject=f"collection {collection.id}",
            severity=severity_of(state.state),
            text=f"{collection.filename}: {state.state} since {state.since:%Y-%m-%d %H:%M} UTC: {state.reason}",
        )
    if len(found) > most:
        text = f"and {len(found) - most} more; `frepo status --all` lists them"
        yield StatusLine(subject="collections", severity=severity_of(found[most][1].state), text=text)


def describe_age(tested_at: datetime | None, now: datetime) -> str:
    """Return a text such as `not restore-tested for 41 days`; None: it never was. Times are in UTC (aware)."""
    if tested_at is None:
        return "never restore-tested"
    age = now - tested_at
    length, unit = (age.days, "day") if age.days else (int(age.total_seconds()) // 3600, "hour")
    return f"not restore-tested for {counted(length, unit)}"
