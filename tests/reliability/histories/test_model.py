"""Any sequence of requests has the result of a model made of dictionaries; a refused request changes nothing."""

import os
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    invariant,
    rule,
    run_state_machine_as_test,
)

from frepo_core.db import utc_now
from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.errors import (
    FrepoError,
    MalformedRequestError,
    RuleError,
)
from frepo_core.services.backups.trash.expiry import end_expired
from frepo_core.services.upkeep.storage import OwnerMark
from frepo_core.testing.sources import Source
from support.model.collection_model import Shelf
from support.model.file_rules import FileRules, contents
from support.reliability.invariants import ALERTING, assert_unchanged, digest_of
from support.reliability.world import clear
from support.scale import IS_BIG, first_of

EXAMPLES = int(os.environ.get("FREPO_MODEL_EXAMPLES", "500" if IS_BIG else "8"))
STEPS = 30
ROTATING = "delete_oldest_when_adding_new"
ENOUGH = 1 << 30

limits = st.fixed_dictionaries(
    {COUNT: st.integers(0, 3), ONE: st.sampled_from([0, 5, 10]), TOTAL: st.sampled_from([0, 10, 20, 30])}
)
strategies = st.sampled_from([ROTATING, ALERTING])


class Model(FileRules):
    """Requests against the services, and the same against dictionaries."""

    shelves = Bundle("shelves")

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, Shelf] = {}
        self.deleted: dict[str, Shelf] = {}
        self.steps = 0

    @rule(target=shelves, limits=limits, strategy=strategies)
    def create(self, limits, strategy):
        limits = limits | {TOTAL: limits[TOTAL] and max(limits[TOTAL], limits[ONE] * max(limits[COUNT], 1))}
        if limits[TOTAL] and not limits[ONE]:
            limits |= {TOTAL: 30}
        collection = self.world.collection(limits[COUNT], limits=limits, strategy=strategy)
        self.world.ledger.edited.add(collection)  # the model knows better than the general rule
        self.known[collection] = Shelf(limits=limits, strategy=strategy)
        return collection

    @rule(collection=shelves, limits=limits, strategy=st.none() | strategies)
    def edit(self, collection, limits, strategy):
        shelf = self.known.get(collection)
        before = self.world.snapshot()
        try:
            self.world.edit(collection, limits=limits, strategy=strategy)
        except FrepoError:
            assert_unchanged(before, self.world.snapshot())
            return
        assert shelf, "a collection that is gone was edited"
        stored = sum(map(len, shelf.versions.values()))
        is_lower = any(limits[one] and not 0 < shelf.limits[one] <= limits[one] for one in (COUNT, TOTAL))
        assert not is_lower or shelf.pins_leave_room(limits), "a limit below what pins need was accepted"
        assert not limits[TOTAL] or limits[TOTAL] >= stored, "a limit below what is stored was accepted"
        shelf.limits, shelf.strategy = limits, strategy or shelf.strategy

    @rule(
        collection=shelves,
        guards=st.fixed_dictionaries(
            {
                "min_retention": st.sampled_from([timedelta(), timedelta(), timedelta(days=7)]),
                "min_version_size": st.sampled_from([0, 2]),
                "max_shrink_percent": st.sampled_from([0, 50]),
                "action": st.sampled_from(["refuse", "mark", "quarantine", "quarantine"]),
            }
        ),
    )
    def guard(self, collection, guards):
        if collection not in self.known:
            self.refused(FrepoError, self.world.edit, collection, guards=guards)
            return
        self.world.edit(collection, guards=guards)
        self.known[collection].become(self.known[collection].after_guards(guards))

    @rule(collection=shelves, content=contents, follows=st.none() | st.integers(-1, 0))
    def push(self, collection, content, follows):
        shelf = self.known.get(collection)
        if not shelf:
            self.refused(FrepoError, self.world.push, collection, content)
            return
        after = None if follows is None else shelf.last + follows
        expected = shelf.after_push(content, after)
        if isinstance(expected, Shelf):
            assert shelf.last + 1 == self.world.push(collection, content, after=after)
            shelf.become(expected)
        else:
            self.refused(expected, self.world.push, collection, content, after=after)

    @rule(collection=shelves, several=st.lists(contents, min_size=2, max_size=4), which=st.none() | st.just(min))
    def keep_pushing(self, collection, several, which):
        for content in several:
            self.push(collection, content, None)
        if which:
            self.pin(collection, which, True)
            self.keep_pushing(collection, several, None)

    @rule(collection=shelves, at=st.integers(0, 8))
    def break_off(self, collection, at):
        if collection not in self.known:
            return

        def vanish():
            raise ConnectionResetError

        stream = Source(9, at=at, step=4, do=vanish)
        self.refused((MalformedRequestError, RuleError), self.world.push, collection, b"", stream=stream)

    @rule(collection=shelves, number=st.integers(1, 9))
    def delete(self, collection, number):
        shelf = self.known.get(collection)
        expected = shelf.after_deletion(number) if shelf else FrepoError
        if not isinstance(expected, Shelf):
            self.refused(expected, self.world.services.versions.delete, collection, f"v{number}")
            return
        self.world.delete(collection, number)
        shelf.become(expected)

    @rule(collection=shelves, which=st.sampled_from([min, min, max]), pinned=st.sampled_from([True, True, False]))
    def pin(self, collection, which, pinned):
        shelf = self.known.get(collection)
        number = which(shelf.contents, default=0) if shelf else 0
        if not number:
            self.refused(FrepoError, self.world.pin, collection, number, pinned=pinned)
            return
        expected = shelf.after_pin(number) if pinned else replace(shelf, pinned=shelf.pinned - {number})
        if not isinstance(expected, Shelf) and number not in shelf.pinned:
            self.refused(expected, self.world.pin, collection, number)
            return
        self.world.pin(collection, number, pinned=pinned)
        if isinstance(expected, Shelf):
            shelf.become(expected)

    @rule(collection=shelves, number=st.integers(1, 9), text=st.sampled_from(["", "before the move"]))
    def note(self, collection, number, text):
        shelf = self.known.get(collection)
        if shelf and number in shelf.contents:
            self.world.note(collection, number, text)
            shelf.notes[number] = text
        else:
            self.refused(FrepoError, self.world.note, collection, number, text)

    @rule(collection=shelves, newest=st.booleans())
    def release(self, collection, newest):
        shelf = self.known.get(collection)
        if not shelf or not shelf.quarantined:
            self.refused(FrepoError, self.world.release, collection, 0)
            return
        number = (max if newest else min)(shelf.quarantined)
        expected = shelf.after_release(number)
        if isinstance(expected, Shelf):
            self.world.release(collection, number)
            shelf.become(expected)
        else:
            self.refused(expected, self.world.release, collection, number)

    @rule(collection=shelves, number=st.integers(1, 9))
    def restore(self, collection, number):
        shelf, by = self.known.get(collection), self.world.admin
        expected = shelf.after_restore(number) if shelf else FrepoError
        if not isinstance(expected, Shelf):
            self.refused(expected, self.world.services.trash.restore, collection, number, by=by)
            return
        self.world.restore(collection, number)
        shelf.become(expected)

    @rule(collection=shelves)
    def empty_trash(self, collection):
        if shelf := self.known.get(collection):
            assert len(shelf.trash) == self.world.services.trash.end(collection, by=self.world.admin)
            shelf.trash.clear()

    @rule()
    def a_week_passes_for_the_trash(self):
        services = self.world.services
        later = utc_now() + timedelta(days=8)
        end_expired(services.database, services.blobs, now=later, by=None, keep_going=lambda: None)
        for shelf in self.known.values():
            shelf.trash.clear()
        self.deleted.clear()

    @rule(collection=shelves, with_versions=st.booleans())
    def delete_collection(self, collection, with_versions):
        shelf, delete = self.known.get(collection), self.world.services.collections.delete
        if not shelf or (shelf.contents and (not with_versions or shelf.pinned or shelf.guards.get("min_retention"))):
            self.refused(FrepoError, delete, collection, with_versions=with_versions)
            return
        delete(collection, with_versions=with_versions)
        self.deleted[collection] = self.known.pop(collection)

    @rule(collection=shelves)
    def restore_collection(self, collection):
        restore, by = self.world.services.deleted_collections.restore, self.world.admin
        if collection not in self.deleted:
            self.refused(FrepoError, restore, collection, by=by)
            return
        shelf = self.known[collection] = self.deleted.pop(collection)
        shelf.restored.clear()
        shelf.versions, shelf.quarantined = dict(sorted(shelf.contents.items())), {}
        assert len(shelf.versions) == restore(collection, by=by).versions

    @rule()
    def sweep_and_verify(self):
        self.world.sweep()
        assert [] == self.world.verify().damaged
        self.world.check(swept=True)

    @invariant()
    def agrees(self):
        for collection, shelf in self.known.items():
            found = self.world.services.versions.list(collection)
            expected = {number: digest_of(content) for number, content in shelf.contents.items()}
            assert expected == {version.number: version.file.blob.digest for version in found}
            assert shelf.pinned == {version.number for version in found if version.pinned}
            assert all(version.note == shelf.notes.get(version.number, "") for version in found)
            assert {*shelf.quarantined} == {version.number for version in found if version.quarantined_at}
            in_trash = self.world.services.trash.list(collection)
            assert {number: digest_of(content) for number, content in shelf.trash.items()} == {
                entry.number: entry.digest for entry in in_trash
            }
            assert shelf.last == self.world.services.collections.get(collection).last_number
        for name, content in self.files.items():
            assert digest_of(content) == self.world.services.files.find(name).blob.digest
        shelves = [*self.known.values(), *self.deleted.values()]
        kept = [content for shelf in shelves for content in (*shelf.contents.values(), *shelf.trash.values())]
        wanted = {digest_of(content) for content in kept}
        wanted |= {digest_of(content) for content in self.files.values()}
        keys = [stat.key for stat in self.world.backend.list() if OwnerMark.parse(stat.key) is None]
        assert wanted == {key.split("/")[1][:64] for key in keys}

    @invariant()
    def holds(self):
        """In the short form, at each fifth step and at the end."""
        self.steps += 1
        if IS_BIG or self.steps % 5 == 0:
            self.world.check()

    def teardown(self):
        self.world.check()


@pytest.mark.databases(*first_of(["sqlite", "postgresql"]))
def test_any_sequence_of_requests_does_what_the_model_does(world, database_kind):
    class OnThisDatabase(Model):
        pass

    OnThisDatabase.world = world
    run_state_machine_as_test(
        OnThisDatabase,
        settings=settings(
            max_examples=EXAMPLES if IS_BIG or database_kind == "sqlite" else 3,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=not IS_BIG,
            phases=[Phase.generate, *([Phase.shrink] if IS_BIG else [])],  # shrinking takes minutes
            report_multiple_bugs=False,
            database=None,
        ),
    )
    clear(world)
