"""Each use case with its k-th call into storage or database failing, for every k until it succeeds."""

import itertools
import sqlite3
import threading

import pytest
from sqlalchemy.exc import OperationalError

from frepo_core.testing import Fail, Stall
from support.reliability.failures import FaultInjection, fails
from support.reliability.invariants import assert_unchanged
from support.reliability.use_cases import (
    CASES,
    STORING,
    add_file,
    add_version_and_rotate,
    delete_version,
    end_collection,
    heal_a_version,
    repeat_version,
)
from support.scale import IS_BIG, first_of

STORAGE_CALLS = ("store", "open", "stat", "delete", "list")
SECONDS = 20


def broken(connection):
    raise OperationalError("", {}, sqlite3.OperationalError("disk I/O error"))


def lost(connection):
    """The connection breaks; the database rolls the transaction back."""
    raise OperationalError("", {}, sqlite3.OperationalError("server closed"), connection_invalidated=True)


def lost_after(connection):
    """The database commits, but its answer is lost; before the commit like `lost`."""
    connection.connection.dbapi_connection.commit()
    lost(connection)


# Pushing with a key takes all steps of a push: it rotates, and records the answer, too.
INTRICATE = CASES if IS_BIG else [repeat_version]
# Those that add bytes, replace them, delete them and delete many rows.
BROKEN_OTHERWISE = CASES if IS_BIG else [repeat_version, heal_a_version, delete_version, end_collection]


def each_of(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.__name__)


each_case = each_of(CASES if IS_BIG else CASES[::3])
BREAKS = {"lost": (lost, ""), "broken": (broken, ""), "lost-after": (lost_after, "COMMIT")}
each_break = pytest.mark.parametrize(("do", "only"), first_of([*BREAKS.values()]), ids=first_of([*BREAKS]))


@each_case
def test_a_database_that_fails_at_step_k_loses_nothing(world, at_database, case):
    _fail_at_each_step(world, at_database, case, broken)


@each_of(BROKEN_OTHERWISE)
def test_a_lost_answer_of_a_commit_loses_nothing(world, at_database, case):
    _fail_at_each_step(world, at_database, case, lost_after, "COMMIT")


@pytest.mark.costly
@each_of(BROKEN_OTHERWISE)
def test_a_connection_that_breaks_at_step_k_loses_nothing(world, at_database, case):
    _fail_at_each_step(world, at_database, case, lost)


@pytest.mark.costly
@pytest.mark.databases("postgresql")
@each_break
@each_of(INTRICATE)
def test_a_postgresql_that_fails_at_step_k_loses_nothing(world, at_database, case, do, only):
    _fail_at_each_step(world, at_database, case, do, only)


def _fail_at_each_step(world, at_database, case, do, only=""):
    injection = FaultInjection(do, only)
    at_database(injection)
    for k in itertools.count(1):
        call = case(world, k)
        before = world.snapshot()
        injection.arm(k)
        failed = fails(call)
        happened = injection.happened
        injection.arm(0)
        if failed and do is not lost_after:
            assert_unchanged(before, world.snapshot(), orphans=True)
        if not failed:
            assert before != world.snapshot()
        _look(world, k)
        if not happened:
            assert not failed
            break
    assert k > 1


@each_case
def test_a_storage_that_fails_at_step_k_loses_nothing(world, case):
    _fail_at_each_call(world, case)


@each_of(BROKEN_OTHERWISE)
def test_a_storage_with_a_bug_at_step_k_loses_nothing(world, case):
    _fail_at_each_call(world, case, error=lambda: RuntimeError("a bug in a plug-in"))


def _fail_at_each_call(world, case, **error):
    """Let each call of the storage fail in a run of its own; the first run counts the calls."""
    call, counting = case(world, 0), world.wrap()
    call()
    steps = [(method, nth + 1) for method in STORAGE_CALLS for nth in range(counting.calls[method])]
    assert bool(steps) == (case in STORING)
    for k, (method, nth) in enumerate(steps, 1):
        world.unwrap()
        call = case(world, k)
        before = world.snapshot()
        storage = world.wrap(Fail(method, nth=nth, **error))
        failed = fails(call)
        assert storage.calls[method] >= nth
        world.unwrap()
        if failed:
            assert_unchanged(before, world.snapshot(), orphans=True)
        _look(world, k)


@each_of(BROKEN_OTHERWISE)
def test_a_failed_request_succeeds_after_the_fault(world, at_database, case):
    injection = FaultInjection(broken)
    at_database(injection)
    for k in (1, 2, 3, 5):
        call = case(world, k)
        injection.arm(k)
        failed = fails(call)
        injection.arm(0)
        if failed:
            call()
        world.check()
    assert not injection.k


@pytest.mark.databases("sqlite", "postgresql")
@pytest.mark.parametrize("method", ["store", "stat", "delete"])
@pytest.mark.parametrize("case", [add_file, add_version_and_rotate, delete_version], ids=lambda case: case.__name__)
def test_a_storage_that_stalls_at_any_step_does_not_block_other_writers(world, case, method):
    """No storage call happens in a transaction, so another writer can continue."""
    other = world.collection(1)
    for k in itertools.count(1):
        world.unwrap()
        call = case(world, k)
        stall = Stall(method, nth=k, seconds=SECONDS)
        world.wrap(stall)
        stalled = threading.Thread(target=call)
        stalled.start()
        while stalled.is_alive() and not stall.reached.wait(0.01):
            pass
        happened = stall.reached.is_set()
        if happened:
            world.edit(other, description=f"while {k} stalls")
            waits = stalled.is_alive()
            stall.release.set()
            assert waits
        stalled.join(SECONDS)
        _look(world, k)
        if not happened:
            break
    assert not stalled.is_alive()


@pytest.mark.costly
@each_of(INTRICATE)
def test_a_database_that_stalls_at_step_k_only_takes_longer(world, at_database, case):
    injection = FaultInjection(lambda connection: threading.Event().wait(0.02))
    at_database(injection)
    for k in itertools.count(1):
        call = case(world, k)
        injection.arm(k)
        call()
        happened = injection.happened
        injection.arm(0)
        if not happened:
            break
    assert k > 1


def _look(world, k):
    """Check all invariants; at each step only in the full form, because the check includes all earlier steps' data."""
    if IS_BIG or k % 5 == 0:
        world.check()
