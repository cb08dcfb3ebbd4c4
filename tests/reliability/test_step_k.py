"""Each use case with its k-th call into storage or database failing, for every k until it succeeds."""

import itertools
import sqlite3
import threading

import pytest
from sqlalchemy.exc import OperationalError

from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.errors import FrepoError
from frepo_core.testing import Fail, Stall
from reliability.invariants import assert_unchanged

STORAGE_CALLS = ("store", "open", "stat", "delete", "list")
SECONDS = 20


def add_file(world, k):
    return lambda: world.upload(b"file %d" % k, f"{k}.txt")


def add_duplicate(world, k):
    world.push(world.collection(), b"duplicate %d" % k)
    return lambda: world.upload(b"duplicate %d" % k, f"{k}.txt")


def add_version_and_rotate(world, k):
    collection = world.collection(1)
    world.push(collection, b"old %d" % k)
    return lambda: world.push(collection, b"new %d" % k)


def delete_version(world, k):
    collection = world.collection()
    world.push(collection, b"to stay %d" % k)
    world.push(collection, b"to go %d" % k)
    return lambda: world.delete(collection, 2)


def delete_file(world, k):
    name = world.upload(b"to go %d" % k, f"{k}.txt")
    return lambda: world.remove(name)


def edit_collection(world, k):
    collection = world.collection()
    return lambda: world.edit(collection, limits={COUNT: 5}, description="other")


def revoke_token(world, k):
    token = world.token(Role.UPLOAD_ALL)
    return lambda: world.services.tokens.revoke(token, by=world.admin)


CASES = [
    add_file,
    add_duplicate,
    add_version_and_rotate,
    delete_version,
    delete_file,
    edit_collection,
    revoke_token,
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)


def broken(connection):
    raise OperationalError("", {}, sqlite3.OperationalError("disk I/O error"))


def lost(connection):
    """The connection breaks; the database rolls back what was not committed."""
    raise OperationalError("", {}, sqlite3.OperationalError("server closed"), connection_invalidated=True)


def lost_after(connection):
    """The database commits, its answer is lost; elsewhere as `lost`."""
    connection.connection.dbapi_connection.commit()
    lost(connection)


class Trouble:
    """Does something at the k-th statement or COMMIT, once it is `armed`."""

    def __init__(self, do, only=""):
        self.do, self.only, self.k, self.seen = do, only, 0, 0

    def __call__(self, what, connection):
        if self.k and what.startswith(self.only):
            self.seen += 1
            if self.seen == self.k:
                self.do(connection)

    def arm(self, k):
        self.k, self.seen = k, 0

    @property
    def came(self):
        return self.seen >= self.k


@pytest.mark.on("sqlite", "postgresql")
@pytest.mark.parametrize(
    ("do", "only"), [(broken, ""), (lost, ""), (lost_after, "COMMIT")], ids=["broken", "lost", "lost-after"]
)
@each_case
def test_a_database_that_fails_at_step_k_loses_nothing(world, at_database, case, do, only):
    trouble = Trouble(do, only)
    at_database(trouble)
    for k in itertools.count(1):
        call = case(world, k)
        before = world.snapshot()
        trouble.arm(k)
        failed = _fails(call)
        came = trouble.came
        trouble.arm(0)
        if failed and do is not lost_after:
            assert_unchanged(before, world.snapshot(), orphans=True)
        world.check()
        if not came:
            assert not failed
            break
    assert k > 1


@pytest.mark.parametrize("error", [None, lambda: RuntimeError("a bug in a plug-in")], ids=["away", "bug"])
@pytest.mark.parametrize("method", STORAGE_CALLS)
@each_case
def test_a_storage_that_fails_at_step_k_loses_nothing(world, case, method, error):
    for k in itertools.count(1):
        world.unwrap()
        call = case(world, k)
        before = world.snapshot()
        storage = world.wrap(Fail(method, nth=k, **({"error": error} if error else {})))
        failed = _fails(call)
        came = storage.calls[method] >= k
        world.unwrap()
        if failed:
            assert_unchanged(before, world.snapshot(), orphans=True)
        world.check()
        if not came:
            assert not failed
            break
    assert k < 20


@pytest.mark.on("sqlite", "postgresql")
@each_case
def test_what_failed_succeeds_when_the_trouble_is_over(world, at_database, case):
    trouble = Trouble(broken)
    at_database(trouble)
    for k in (1, 2, 3, 5):
        call = case(world, k)
        trouble.arm(k)
        failed = _fails(call)
        trouble.arm(0)
        if failed:
            call()
        world.check()
    assert not trouble.k


@pytest.mark.on("sqlite", "postgresql")
@pytest.mark.parametrize("method", ["store", "stat", "delete"])
@pytest.mark.parametrize("case", [add_file, add_version_and_rotate, delete_version], ids=lambda case: case.__name__)
def test_a_storage_that_stalls_at_any_step_stops_nobody_else(world, case, method):
    """No call into the storage happens in a transaction, so another writer goes on meanwhile."""
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
        came = stall.reached.is_set()
        if came:
            world.edit(other, description=f"while {k} stalls")
            waits = stalled.is_alive()
            stall.release.set()
            assert waits
        stalled.join(SECONDS)
        world.check()
        if not came:
            break
    assert not stalled.is_alive()


@each_case
def test_a_database_that_stalls_at_step_k_only_takes_longer(world, at_database, case):
    trouble = Trouble(lambda connection: threading.Event().wait(0.02))
    at_database(trouble)
    for k in itertools.count(1):
        call = case(world, k)
        trouble.arm(k)
        call()
        came = trouble.came
        trouble.arm(0)
        if not came:
            break
    assert k > 1


def _fails(call):
    try:
        call()
    except (FrepoError, RuntimeError):
        return True
    return False
