"""Simulates the uploads of a year: which version arrived when, how large it was, and which ones are still kept.

Only versions that are kept get contents. The others leave what a real service would have of them: events and samples.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from random import Random

from frepo_core.domain.backups.guards import Guards
from frepo_core.domain.limits import Limits
from frepo_core.features.preview.simulation import Simulation
from frepo_core.plugins import IncomingVersion
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.backups.collections.states import BackupState
from frepo_core.services.backups.rotation.decision import RotationState

from .catalogue import DAY, Plan

KEEP = "keep"

# What arrived in these days is uploaded in full, with the evictions that it causes.
RECENT = 3 * DAY


@dataclass(frozen=True, kw_only=True)
class Upload:
    """An upload: its number in the collection, and the size in bytes that its content should have.

    `content` names the content: the same for an upload that repeats the content before, made at `content_at`.
    """

    number: int
    at: datetime
    size: int
    content: str
    content_at: datetime


@dataclass(frozen=True, kw_only=True)
class Past:
    """The uploads of a collection, by number. `replaced` are those before the recent days that evicted other versions.

    Its keys are numbers of uploads, its values the numbers of the versions that were evicted for them.
    """

    plan: Plan
    created_at: datetime
    uploads: Sequence[Upload]
    replaced: Mapping[int, Sequence[int]]

    @cached_property
    def gone(self) -> frozenset[int]:
        """The numbers of the versions that were evicted before the recent days."""
        return frozenset(chain.from_iterable(self.replaced.values()))


def simulate(plan: Plan, now: datetime, random: Random, plugins: PluginRegistry) -> Past:
    """Return the uploads of a collection until now, the oldest first. The strategies are among the plug-ins."""
    created_at = now - plan.age
    if plan.state is BackupState.NEW:
        return Past(plan=plan, created_at=created_at, uploads=(), replaced={})
    uploads = list(_uploads(plan, created_at, now, random))
    if plan.state is BackupState.FULL:  # it refuses more, and deletes nothing
        return Past(plan=plan, created_at=created_at, uploads=uploads, replaced={})
    early = {upload.number for upload in uploads if upload.at < now - RECENT}
    if plan.keep and KEEP in plugins.strategies:
        evicted = _thinned(plan, uploads, plugins)
    else:
        evicted = {number: [number - plan.limit] for number in early if number > plan.limit}
    replaced = {number: old for number, old in evicted.items() if number in early}
    return Past(plan=plan, created_at=created_at, uploads=uploads, replaced=replaced)


def _thinned(plan: Plan, uploads: Sequence[Upload], plugins: PluginRegistry) -> Mapping[int, list[int]]:
    """Return which versions the strategy `keep` evicts, by the number of the upload for which it does."""
    limits = Limits(versions=plan.limit, version_size=0, total_size=0)
    model = plugins.strategies[KEEP].options
    options = model(**plan.keep) if model else None
    state = RotationState(limits=limits, strategy=KEEP, versions=(), stored_size=0, options=options)
    incoming = [IncomingVersion(size=upload.size, created_at=upload.at) for upload in uploads]
    evicted: dict[int, list[int]] = {}
    for fate in Simulation(plugins, state, Guards()).run(incoming).fates:
        if fate.eviction:
            evicted.setdefault(fate.eviction.by, []).append(fate.version.number)
    return evicted


def _uploads(plan: Plan, created_at: datetime, now: datetime, random: Random) -> Iterator[Upload]:
    """Yield the uploads: regular ones with a jitter, the last one as late as the plan says."""
    last = now - plan.interval - plan.lateness
    count = max(int((last - created_at) / plan.interval), 1)
    content, content_at = "", created_at
    for number in range(1, count + 1):
        before = (count - number) * plan.interval
        jitter = timedelta(seconds=random.uniform(-240, 240)) if before else timedelta()
        at = last - before + jitter
        if not content or random.random() >= plan.unchanged:
            content, content_at = f"{plan.name} {number}", at
        yield Upload(number=number, at=at, size=_size(plan, now - at, random), content=content, content_at=content_at)


def _size(plan: Plan, ago: timedelta, random: Random) -> int:
    """Return a size that has grown over the year, with some noise. The last one is much smaller if suspicious."""
    grown = 1 + plan.growth / 100 * (1 - ago / (365 * DAY))
    shrunk = 0.29 if plan.state is BackupState.SUSPICIOUS and ago < plan.interval else 1
    return int(plan.size * grown * shrunk * random.uniform(0.98, 1.02))
