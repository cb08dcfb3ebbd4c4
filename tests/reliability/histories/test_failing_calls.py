"""Each use case with its k-th call into storage or database failing, for every k until it succeeds."""

import itertools
import sqlite3
import threading
from io import BytesIO

import pytest
from sqlalchemy.exc import OperationalError

from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.idempotency import IdempotentUpload, RecordedAnswer
from frepo_core.testing import Fail, Stall
from support.reliability.failures import FaultInjection, fails
from support.reliability.invariants import assert_unchanged, digest_of
from support.scale import IS_BIG

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


def delete_collection(world, k):
    collection = world.collection()
    return lambda: world.services.collections.delete(collection)


def repeat_version(world, k):
    """Push with a key: a repetition gets the committed answer, or makes the version."""
    collection, content = world.collection(1), b"repeated %d" % k
    world.push(collection, b"old %d" % k)
    idempotency = IdempotentUpload(
        key=f"key {k}",
        scopes=[collection],
        serialize=lambda added: {"number": added.version.number, "file": added.version.file.id},
        file_id=lambda answer: answer["file"],
    )

    def push():
        facts, incoming = world.services.collections.get(collection), Incoming(stream=BytesIO(content))
        added = world.services.add_version.add(facts, incoming, by=world.admin, idempotency=idempotency)
        number = added.answer["number"] if isinstance(added, RecordedAnswer) else added.version.number
        assert 2 == number
        if (collection, number) not in world.ledger.versions:
            world.ledger.acknowledge(collection, number, content)

    return push


def heal_a_version(world, k):
    """Push a content whose blob is damaged: it is stored again, and the damaged bytes are deleted."""
    collection, content = world.collection(2), b"to heal %d" % k
    world.push(collection, content)
    key = next(stat.key for stat in world.backend.list() if digest_of(content) in stat.key)
    world.backend.path(key).write_bytes(b"x" * len(content))
    world.verify()
    world.spoilt.add(digest_of(content))

    def push():
        world.push(collection, content)
        world.spoilt.discard(digest_of(content))

    return push


def create_collection(world, k):
    return lambda: world.collection(3)


def make_token(world, k):
    return lambda: world.token(Role.UPLOAD_ALL)


def pin_version(world, k):
    collection = world.collection()
    world.push(collection, b"to pin %d" % k)
    return lambda: world.pin(collection, 1)


def note_version(world, k):
    collection = world.collection()
    world.push(collection, b"to note %d" % k)
    return lambda: world.note(collection, 1, "before the move")


def quarantine_version(world, k):
    """The third version in quarantine: the first one leaves it."""
    collection = world.collection(guards={"min_version_size": 100, "action": "quarantine"})
    world.push(collection, b"good %d " % k + b"x" * 100)
    world.push(collection, b"bad %d" % k)
    world.push(collection, b"worse %d" % k)
    world.ledger.quarantined.add((collection, 4))  # its answer may be lost
    return lambda: world.push(collection, b"worst %d" % k)


def release_version(world, k):
    """The released version evicts the oldest one."""
    collection = world.collection(1, guards={"min_version_size": 100, "action": "quarantine"})
    world.push(collection, b"good %d " % k + b"x" * 100)
    world.push(collection, b"small, but right %d" % k)
    return lambda: world.release(collection, 2)


def in_trash(world, k):
    """Make a collection with one version, and another in the trash."""
    collection = world.collection()
    world.push(collection, b"to restore %d" % k)
    world.push(collection, b"to stay %d" % k)
    world.delete(collection, 1)
    return collection


def restore_version(world, k):
    collection = in_trash(world, k)
    return lambda: world.restore(collection, 1)


def end_version(world, k):
    collection = in_trash(world, k)
    return lambda: world.services.trash.end(collection, 1, by=world.admin)


def with_deleted_collection(world, k):
    collection = in_trash(world, k)
    world.ledger.ask_to_delete(collection, 2)
    return collection, lambda: world.services.collections.delete(collection, with_versions=True)


def delete_collection_with_versions(world, k):
    return with_deleted_collection(world, k)[1]


def restore_collection(world, k):
    collection, delete = with_deleted_collection(world, k)
    delete()
    return lambda: world.services.deleted_collections.restore(collection, by=world.admin)


def end_collection(world, k):
    collection, delete = with_deleted_collection(world, k)
    delete()
    return lambda: world.services.deleted_collections.end(collection, by=world.admin)


CASES = [
    add_file,
    add_duplicate,
    add_version_and_rotate,
    repeat_version,
    heal_a_version,
    quarantine_version,
    delete_file,
    end_version,
    end_collection,
    create_collection,
    delete_version,
    edit_collection,
    delete_collection,
    make_token,
    revoke_token,
    pin_version,
    note_version,
    release_version,
    restore_version,
    delete_collection_with_versions,
    restore_collection,
]
# The others change rows only.
STORING = CASES[: CASES.index(create_collection)]
# Pushing with a key takes all steps of a push: it rotates, and records the answer, too.
INTRICATE = CASES if IS_BIG else [repeat_version]


def each_of(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.__name__)


each_case = each_of(CASES)
each_break = pytest.mark.parametrize(
    ("do", "only"), [(broken, ""), (lost, ""), (lost_after, "COMMIT")], ids=["broken", "lost", "lost-after"]
)


@each_case
def test_a_database_that_fails_at_step_k_loses_nothing(world, at_database, case):
    _fail_at_each_step(world, at_database, case, broken)


@each_case
def test_a_lost_answer_of_a_commit_loses_nothing(world, at_database, case):
    _fail_at_each_step(world, at_database, case, lost_after, "COMMIT")


@each_of(CASES if IS_BIG else [repeat_version, heal_a_version, delete_file])
def test_a_connection_that_breaks_at_step_k_loses_nothing(world, at_database, case):
    _fail_at_each_step(world, at_database, case, lost)


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
        _look(world, k)
        if not happened:
            assert not failed
            break
    assert k > 1


@pytest.mark.parametrize("error", [None, lambda: RuntimeError("a bug in a plug-in")], ids=["away", "bug"])
@each_case
def test_a_storage_that_fails_at_step_k_loses_nothing(world, case, error):
    """Each call of the storage fails in a run of its own; the first run counts the calls."""
    call, counting = case(world, 0), world.wrap()
    call()
    steps = [(method, nth + 1) for method in STORAGE_CALLS for nth in range(counting.calls[method])]
    assert bool(steps) == (case in STORING)
    for k, (method, nth) in enumerate(steps, 1):
        world.unwrap()
        call = case(world, k)
        before = world.snapshot()
        storage = world.wrap(Fail(method, nth=nth, **({"error": error} if error else {})))
        failed = fails(call)
        assert storage.calls[method] >= nth
        world.unwrap()
        if failed:
            assert_unchanged(before, world.snapshot(), orphans=True)
        _look(world, k)


@each_case
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
