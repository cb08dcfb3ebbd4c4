"""A collection with a nightly backup, whose token an adversary has got; time is simulated."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from webtest import TestApp

from frepo_core.db import utc_now
from frepo_core.db.types import simulated_time
from frepo_core.domain.enrolment import UPLOADER_ROLES
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.plugins import JobContext, StorageBackend
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.composition.builtin_jobs import upkeep_jobs
from frepo_core.services.composition.container import Services
from frepo_core.services.composition.facade.plugin_service import PluginService
from frepo_core.testing import MemoryStorage
from support.client import COLLECTIONS, Client
from support.reliability.invariants import digest_of

V1 = "/api/v1"
NIGHTLY_JOBS = ("samples", "verify", "sweep", "tokens", "overdue", "events", "trash")
# The service exists for as long as this when the adversary begins, so that each strategy has something to thin.
LONGEST_HISTORY = 9


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a week begins: who made the collection, how it is protected, and what the adversary waits for."""

    made_by: str
    strategy: str
    versions: int
    nights: int
    min_retention: int
    pins: bool
    waits: timedelta
    capacity: int | None = None
    floods: bool = False

    @classmethod
    def draw(cls, draw: Random, *, capacity: int | None = None) -> "Plan":
        return cls(
            made_by=draw.choice(("command", "v1", "old")),
            strategy=draw.choice(("delete_oldest_when_adding_new", "keep")),
            versions=draw.choice((1, 3, 3, 7)),
            nights=draw.randint(1, LONGEST_HISTORY),
            min_retention=draw.choice((0, 0, 0, 2, 7)),
            pins=draw.random() < 0.3,
            waits=draw.choice((timedelta(), timedelta(minutes=1), timedelta(hours=6), timedelta(hours=23))),
            capacity=capacity,
            floods=draw.random() < 0.1,
        )


@dataclass
class Besieged:
    """The collection, its owner (`root`) and the holder of its token (`thief`), who are told apart by nothing but time.

    `good` has the digests of the backups that the cron job has sent and the service has accepted, by number.
    """

    services: Services
    app: TestApp
    plan: Plan
    draw: Random
    good: dict[int, bytes] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    refused: list[int] = field(default_factory=list)
    pinned: set[int] = field(default_factory=set)
    now: datetime = field(default_factory=utc_now)

    def __post_init__(self) -> None:
        backends = self.services.backends
        backends._built[backends.current] = MemoryStorage(self.plan.capacity)
        admin = self.services.tokens.generate(NewToken(roles=[Role.ADMINISTRATOR], expires="never"))
        token = self.services.tokens.generate(NewToken(roles=UPLOADER_ROLES, expires="never"))
        self.root, self.thief = Client(self.app, admin.id), Client(self.app, token.id)
        self.collection = self._create(self.services.tokens.identify(admin.id, address="", user_agent=""))
        self.services.token_lists.grant(self.collection, token.fingerprint)

    @property
    def backend(self) -> StorageBackend:
        return self.services.backends.get(self.services.backends.current)

    @property
    def v1(self) -> str:
        return f"{V1}/collections/{self.collection}"

    @property
    def old(self) -> str:
        return f"{COLLECTIONS}/{self.collection}"

    @contextmanager
    def at(self, moment: datetime) -> Iterator[None]:
        self.now = moment
        with simulated_time(moment):
            yield

    def after(self, length: timedelta) -> Any:
        return self.at(self.now + length)

    def back_up(self) -> None:
        """Send the backup of a night, as the cron job does: about as large as the one before."""
        size = self.draw.randint(1000, 1100)
        content = self.draw.randbytes(size)
        answer = self.thief.call("PUT", f"{self.v1}/versions", body=content)
        if answer.status_int == 201:
            number = answer.json["number"]
            self.good[number] = content
            if self.plan.pins and not self.pinned and self.plan.versions > 2:
                assert self.root.call("PATCH", f"{self.v1}/versions/v{number}", json={"pinned": True}).status_int == 200
                self.pinned.add(number)
        else:
            self.refused.append(answer.status_int)

    def night(self) -> None:
        """Run the jobs that the worker runs at night."""
        jobs = {job.name: job for job in upkeep_jobs(self.services)}
        for name in NIGHTLY_JOBS:
            self.run(jobs[name].run)

    def keep_trash(self) -> None:
        """Run the job of the trash, as the worker does every ten minutes."""
        self.run(next(job.run for job in upkeep_jobs(self.services) if job.name == "trash"))

    def run(self, job: Callable[[JobContext], Any]) -> None:
        log = logging.getLogger(__name__)
        job(
            JobContext(
                settings=None,
                service=PluginService(),
                log=log,
                now=self.now,
                check_lease=lambda: None,
                progress=lambda text: None,
            )
        )

    def _create(self, by: Any) -> str:
        plan = self.plan
        if plan.made_by == "old":
            form = {
                "strategy": plan.strategy,
                "maxBackupsCount": plan.versions,
                "minRetention": f"{plan.min_retention}d",
            }
            return str(self.root.create(**form).json["collection"]["id"])
        if plan.made_by == "v1":
            guards = {"min_retention": f"P{plan.min_retention}D"}
            fields = {"name": "dump.sql.gz", "strategy": plan.strategy, "guards": guards}
            answer = self.root.post(f"{V1}/collections", {**fields, "limits": {"versions": plan.versions}})
            assert answer.status_int == 201, answer.text
            return str(answer.json["id"])
        guards = {"min_version_size": 200, "min_retention": timedelta(days=plan.min_retention)}
        change = CollectionChange(
            limits={COUNT: plan.versions}, guards=guards, strategy=plan.strategy, filename="dump.sql.gz"
        )
        return str(self.services.collections_with_tokens.make(change).collection.id)

    def numbers(self) -> dict[int, bool]:
        """Return the numbers of the versions that are there, and whether each is in quarantine."""
        return {row.number: row.quarantined_at is not None for row in self.services.versions.list(self.collection)}

    def ages(self) -> dict[int, datetime]:
        return {row.number: row.created_at for row in self.services.versions.list(self.collection)}

    def digest(self, number: int) -> str:
        return digest_of(self.good[number])
