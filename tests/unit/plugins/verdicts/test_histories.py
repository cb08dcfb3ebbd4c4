"""Any history of good, broken, late-judged, pinned, released, restored and refused uploads keeps the last good version.

The rule that is checked after each step: the newest good version leaves its collection only by a person's deletion, or
for another good one.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from io import BytesIO

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Version
from frepo_core.domain.identity import Actor
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.errors import FrepoError
from frepo_core.plugins import CollectionStrategy, StrategySpec, UploadCheck, VersionInfo
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_checks import NewCheck
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.content.ingest import Incoming
from support.own_plugins import acme_plugin, registry_with
from support.scale import first_of

from .conftest import look

EXAMPLES = int(os.environ.get("FREPO_VERDICT_EXAMPLES", "4"))
BAD = {"suspicious", "broken"}
GOOD = {"restored", "complete", "whole", "unchecked"}
JOB = Actor(name="system:restore_tests")


class Greedy(CollectionStrategy):
    """The worst strategy that a third party can write: each upload evicts everything that it may."""

    def make_room(self, collection, incoming) -> Sequence[VersionInfo]:
        return list(collection.versions)


@pytest.fixture
def plugins():
    greedy = StrategySpec(name="greedy", build=Greedy)
    check = UploadCheck(name="look", run=look)
    return registry_with(acme_plugin("acme-look", upload_checks=[check], strategies=[greedy]))


@pytest.fixture(params=["quarantine", "mark"])
def ini(ini, request):
    return ini | {"checks.on_broken": request.param, "jobs.timezone": "UTC"}


class History(RuleBasedStateMachine):
    """One collection. `services`, `by`, `limit` and `strategy` are set by the test."""

    def __init__(self) -> None:
        super().__init__()
        change = CollectionChange(limits={COUNT: self.limit}, filename="dump.sql", strategy=self.strategy)
        self.collection = self.services.collections.create(change, by=self.by).id
        self.service = next(iter(self.services.contexts.values())).service
        self.count = 0

    def versions(self) -> dict[int, Version]:
        with self.services.database.reading() as session:
            query = select(Version).where(Version.collection_id == self.collection)
            return {row.number: row for row in session.scalars(query)}

    def newest_good(self) -> int:
        rows = self.versions().values()
        return max((row.number for row in rows if row.verdict in GOOD and not row.is_quarantined), default=0)

    def step(self, work) -> None:
        """Do something, then check that the newest good version is still there, or a good one has replaced it."""
        before = self.newest_good()
        try:
            work()
        except FrepoError:
            assert before == self.newest_good(), "a refused request has changed which version is the newest good one"
            return
        if before in self.versions() or not before:
            return
        assert self.newest_good(), f"v{before} left, and no good version is there"

    @rule(word=st.sampled_from(["good", "complete", "broken", "broken", "odd", "pending", "pending"]))
    def push(self, word):
        self.count += 1
        content = BytesIO(f"{word} {self.count}".encode())
        collection = self.services.collections.get(self.collection)
        before = self.versions()
        self.step(lambda: self.services.add_version.add(collection, Incoming(stream=content), by=self.by))
        self.check_bad_ones_left_first(before)

    def check_bad_ones_left_first(self, before: dict[int, Version]) -> None:
        """Check that an upload which needed room has evicted no good version while a bad one could leave."""
        now, after = utc_now(), self.versions()
        added = after[max(after)]
        counted = sum(row.is_counted for row in before.values())
        if added.number in before or counted < self.limit + (added.verdict in BAD):
            return
        if [row for number, row in before.items() if number not in after and row.verdict in GOOD]:
            is_free = [row for row in after.values() if not row.pinned and (row.protected_until or now) <= now]
            assert not [row for row in is_free if row.is_counted and row.verdict in BAD and row is not added]

    @rule(outcome=st.sampled_from(["good", "broken", "suspicious", "pending"]), newest=st.booleans())
    def judge(self, outcome, newest):
        pending = [one for one in self.service.pending_checks("look", limit=9) if one.collection_id == self.collection]
        if pending:
            key = (max if newest else min)(pending, key=lambda one: one.version_number)
            self.step(lambda: self.service.record_check(key, outcome, "later", job="again"))

    @rule(which=st.sampled_from([min, max]), outcome=st.sampled_from(["good", "broken"]))
    def restore_test(self, which, outcome):
        versions = self.versions()
        if not versions:
            return
        row = versions[which(versions)]
        check = NewCheck(name="restore", outcome=outcome, message="loaded")
        before = versions.keys()
        has_good = self.newest_good() > 0
        with suppress(FrepoError):
            self.services.late_results.record(row.id, check, by=JOB)
        if row.pending_since is None:
            assert before <= self.versions().keys(), "a version left for a later verdict"
        evicted = [one for one in self.services.trash.list(self.collection) if one.reason == "evicted"]
        assert self.newest_good() or not has_good or not any(one.verdict in GOOD for one in evicted)

    @rule(which=st.sampled_from([min, max]), pinned=st.booleans())
    def pin(self, which, pinned):
        self.edit(which, VersionChange(pinned=pinned))

    @rule(which=st.sampled_from([min, max]))
    def release(self, which):
        self.edit(which, VersionChange(releases=True))

    def edit(self, which, change):
        if versions := self.versions():
            row = versions[which(versions)]
            self.step(lambda: self.services.version_edits.edit(self.collection, row.id, change, by=self.by))

    @rule(which=st.sampled_from([min, max]))
    def restore(self, which):
        if trash := self.services.trash.list(self.collection):
            number = which(one.number for one in trash)
            self.step(lambda: self.services.trash.restore(self.collection, number, by=self.by))

    @rule(which=st.sampled_from([min, max]))
    def delete(self, which):
        if versions := self.versions():
            with suppress(FrepoError):
                self.services.versions.delete(self.collection, f"v{which(versions)}", by=self.by)

    @rule()
    def patience_ends(self):
        services, past = self.services, utc_now() - timedelta(days=2)
        waits = (Version.collection_id == self.collection) & Version.pending_since.is_not(None)
        services.database.execute(update(Version).where(waits).values(pending_since=past))
        self.step(lambda: services.unjudged_versions.end_waiting(now=utc_now(), by=JOB, keep_going=lambda: None))

    @invariant()
    def counters_are_right(self):
        rows = self.versions().values()
        with self.services.database.reading() as session:
            row = session.get(Collection, self.collection)
        counted = [one for one in rows if one.is_counted]
        assert (row.versions_count, row.pinned_count) == (len(counted), sum(one.pinned for one in counted))
        assert row.quarantined_count == sum(one.is_quarantined for one in rows)
        assert row.pending_count == sum(one.pending_since is not None for one in rows)
        assert not [one for one in rows if one.is_quarantined and one.pending_since is not None]

    @invariant()
    def names_are_right(self):
        newest = self.newest_good()
        try:
            assert newest == self.services.versions.find(self.collection, "good").number
        except FrepoError:
            assert not newest


@pytest.mark.parametrize("strategy", ["delete_oldest_when_adding_new", "keep", "greedy"])
@pytest.mark.parametrize("limit", first_of([1, 3]))
def test_the_newest_good_version_leaves_only_for_a_good_one(services, strategy, limit):
    token = services.tokens.generate(NewToken(roles=(Role.ADMINISTRATOR,), expires="never")).id

    class OfThisService(History):
        pass

    OfThisService.services, OfThisService.limit, OfThisService.strategy = services, limit, strategy
    OfThisService.by = services.tokens.identify(token, address="127.0.0.1", user_agent="")
    run_state_machine_as_test(
        OfThisService,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, *([Phase.shrink] if EXAMPLES > 50 else [])],
            derandomize=EXAMPLES <= 50,
            database=None,
        ),
    )
