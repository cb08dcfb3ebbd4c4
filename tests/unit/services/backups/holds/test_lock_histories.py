"""Random histories of a collection that is locked at some moment: no locked version leaves, whatever is tried."""

import random
from contextlib import suppress
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import select

from frepo_core.db import utc_now
from frepo_core.db.models import TrashEntry, Version
from frepo_core.domain.identity import Actor
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.errors import FrepoError
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.holds.pins import end_pins
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.trash.expiry import end_expired
from frepo_core.services.backups.versions.version_checks import NewCheck
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.content.ingest import Incoming
from support.scale import IS_BIG, first_of

from .conftest import DAY

STEPS = 2000 if IS_BIG else 100
JOB = Actor(name="system:test")


class History:
    """One collection after the other, with versions that are locked for ten days or longer."""

    def __init__(self, services, host, by, strategy):
        self.services, self.host, self.by, self.strategy = services, host, by, strategy
        self.random, self.count = random.Random(strategy), 0
        self.done = []
        self.begin()

    def run(self, steps):
        """Do something again and again, and check after each time what is there."""
        rare = [self.lock, self.delete_the_collection, self.jobs, self.the_storage_is_full]
        actions = [*[self.push, self.delete, self.edit, self.judge, self.trash, self.set_clock] * 3, *rare]
        for _ in range(steps):
            action = self.random.choice(actions)
            self.done = [*self.done[-9:], action.__name__]
            with suppress(FrepoError):
                action()
            self.check()

    def begin(self):
        change = CollectionChange(limits={COUNT: 2}, filename="dump.sql", strategy=self.strategy, locked=10 * DAY)
        self.collection = self.services.collections.create(change, by=self.by).id
        self.promised = {}

    def rows(self, model):
        with self.services.database.reading() as session:
            query = select(model).where(model.collection_id == self.collection)
            return {row.number: (row.locked_until, self._blob(model, row)) for row in session.scalars(query)}

    def _blob(self, model, row):
        blob = row.file.blob if model is Version else row.blob
        return blob.place.storage, blob.place.key

    def pick(self, model=Version):
        return self.random.choice(list(self.rows(model)) or [1])

    def find(self):
        return self.services.versions.find(self.collection, f"v{self.pick()}")

    def push(self):
        self.count += 1
        word = self.random.choice(["good", "good", "broken", "pending"])
        collection, stream = self.services.collections.get(self.collection), BytesIO(f"{word} {self.count}".encode())
        self.services.add_version.add(collection, Incoming(stream=stream), by=self.by)

    def lock(self):
        change = CollectionChange(limits={}, locked=self.random.choice([0, 1, 10, 30]) * DAY)
        self.services.collections.edit(self.collection, change, by=self.by)

    def set_clock(self):
        self.host.pass_time(timedelta(hours=self.random.choice([1, 24, 24, 24 * 9, 24 * 31, -24])))

    def delete(self):
        self.services.versions.delete(self.collection, f"v{self.pick()}", by=self.by)

    def edit(self):
        change = self.random.choice(
            [
                VersionChange(pinned=True),
                VersionChange(pinned=False),
                VersionChange(pinned=True, pin={"until": utc_now() + DAY}),
                VersionChange(releases=True),
            ]
        )
        self.services.version_edits.edit(self.collection, self.find().id, change, by=self.by)

    def judge(self):
        check = NewCheck(name="look", outcome=self.random.choice(["good", "broken"]), message="later")
        self.services.late_results.record(self.find().id, check, by=JOB)

    def trash(self):
        number, trash = self.pick(TrashEntry), self.services.trash
        action = self.random.choice(
            [
                lambda: trash.restore(self.collection, number, by=self.by),
                lambda: trash.end(self.collection, number, by=self.by),
                lambda: trash.end(self.collection, by=self.by),
            ]
        )
        action()

    def delete_the_collection(self):
        self.services.collections.delete(self.collection, by=self.by, with_versions=True)
        self.check()
        deleted = self.services.deleted_collections
        if self.random.random() < 0.5:
            deleted.restore(self.collection, by=self.by)
        else:
            deleted.end(self.collection, by=self.by)
            self.check()
            self.begin()

    def jobs(self):
        services, now = self.services, utc_now()
        end_pins(services.database, now=now, by=JOB, keep_going=lambda: None)
        end_expired(services.database, services.blobs, now=now, by=JOB, keep_going=lambda: None)
        services.unjudged_versions.end_waiting(now=now, by=JOB, keep_going=lambda: None)

    def the_storage_is_full(self):
        self.services.early_ending.give_way(10**9, by=JOB)

    def check(self):
        """Check that each version which was locked is there, where it was, and locked at least as long."""
        now, versions, trash = utc_now(), self.rows(Version), self.rows(TrashEntry)
        for number, (until, was_version) in self.promised.items():
            if until > now:
                held = versions if was_version else trash | versions
                assert number in held, f"v{number} left, which is locked until {until}: {self.done}"
                assert until <= held[number][0], f"the lock of v{number} was shortened"
                storage, key = held[number][1]
                assert self.services.backends.get(storage).stat(key)
        rows = trash | versions
        self.promised = {number: (until, number in versions) for number, (until, _) in rows.items() if until}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", first_of(["greedy", "delete_oldest_when_adding_new", "keep"]))
def test_no_locked_version_leaves_whatever_is_tried(services, host, strategy):
    token = services.tokens.generate(NewToken(roles=(Role.ADMINISTRATOR,), expires="never")).id
    by = services.tokens.identify(token, address="127.0.0.1", user_agent="")

    History(services, host, by, strategy).run(STEPS)
