"""Answers whether anything is wrong: with the service itself, its jobs, and the backups in it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..backups.collections.states import PROBLEMS
from ..foundation import Foundation
from .health import Health
from .job_health import JobsFailError, check_worker
from .overview.overview import Overviews

# Only the worst collections are named. `frepo status --overdue` names all that are missing.
NAMED = 50


@dataclass(frozen=True, kw_only=True)
class StatusLine:
    """Something that was looked at: its name, whether it is as it should be, and a text for people."""

    subject: str
    is_good: bool
    text: str


def read_status(base: Foundation, health: Health, overviews: Overviews) -> Sequence[StatusLine]:
    """Run all health checks and look at all collections; return what was found."""
    return [*_service_lines(base, health), *_collection_lines(overviews)]


def _service_lines(base: Foundation, health: Health) -> Iterator[StatusLine]:
    problems = {name: list(texts) for name, texts in health.run().items()}
    if not problems.get("database") and not problems.get("worker") and not base.settings.read_only:
        # The health check gives the worker of a new process time to begin. This may be a process of the console.
        try:
            check_worker(base.database)
        except JobsFailError as error:
            problems["worker"] = [error.message]
    for name, texts in problems.items():
        yield StatusLine(subject=name, is_good=not texts, text="; ".join(texts))


def _collection_lines(overviews: Overviews) -> Iterator[StatusLine]:
    overview = overviews.read()
    counts = Counter({state.value: number for state, number in overview.collections.items() if number})
    is_good = not any(overview.collections[state] for state in PROBLEMS)
    text = ", ".join(f"{number} {state}" for state, number in counts.items()) or "none"
    yield StatusLine(subject="collections", is_good=is_good, text=text)
    for name in overview.failing_jobs:
        yield StatusLine(subject=f"job {name}", is_good=False, text="its last run failed, see `frepo jobs`")
    for collection, state in overviews.in_states(PROBLEMS, NAMED):
        yield StatusLine(
            subject=f"collection {collection.id}",
            is_good=False,
            text=f"{collection.filename}: {state.state} since {state.since:%Y-%m-%d %H:%M} UTC",
        )
