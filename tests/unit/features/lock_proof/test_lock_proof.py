"""Storages are tried: whether they keep what is locked is not believed before."""

from datetime import datetime, timedelta

import pytest

from frepo_core.db import utc_now
from frepo_core.features.doctor.locks import check_locks
from frepo_core.features.lock_proof.feature import LockProofServices
from frepo_core.features.lock_proof.lock_proof import LockBrokenError, LockProofs
from frepo_core.testing import Fail, FaultyStorage, MemoryStorage

DAY = timedelta(days=1)
CODE = "health-5ecre7"


class Storage(MemoryStorage):
    """Retains blobs, and counts how often this was tried."""

    version, tries = "store/1", 0

    def server(self):
        return self.version

    def break_retention(self, key):
        self.tries += 1
        return super().break_retention(key)


class LyingStorage(Storage):
    """Says that it retains, and deletes what was retained."""

    def retain(self, key, until):
        return True


@pytest.fixture
def ini(ini):
    return ini | {"health_check.code": CODE}


@pytest.fixture
def use(services):
    """Let a storage take the place of the first one."""

    def use(storage):
        services.backends._built["local"] = storage
        return storage

    return use


@pytest.fixture
def found(services):
    """Return what is known, and what doctor says."""

    def found():
        [finding] = check_locks(services)
        return services.feature(LockProofServices).proofs.read()["local"], finding

    return found


def health(services):
    """Return what the health check found."""
    return services.health.run()["locks"]


def test_a_storage_that_refuses_everything_is_proven(services, make_collection, run, use, found):
    storage, now = use(Storage(retains=True)), utc_now()
    make_collection(locked=DAY)

    assert {"proven": 1} == run("lock_proof", now)

    proof, finding = found()
    assert now == proof.proven_at
    assert ("ok", True) == (finding.level, "refused to break a lock on" in finding.message)
    assert () == health(services)
    assert 1 == len(storage.retained)


def test_a_storage_that_deletes_what_was_locked_is_red_until_it_refuses(services, make_collection, run, use, found):
    use(LyingStorage())
    make_collection(locked=DAY)

    for _ in range(2):
        with pytest.raises(LockBrokenError, match="The storage 'local' let a retained blob be deleted"):
            run("lock_proof")
        assert "let a retained blob be deleted" in health(services)[0]
        assert health(services) == services.health.report(CODE).storage  # of the first API
        assert "problem" == found()[1].level
    use(Storage(retains=True))

    assert {"proven": 1} == run("lock_proof")
    assert () == health(services)


def test_an_error_on_the_way_is_not_known_and_tried_again(services, make_collection, run, use, found):
    storage = use(FaultyStorage(Storage(retains=True), Fail("retain", nth=1)))
    make_collection(locked=DAY)

    assert {"local"} == run("lock_proof")["not_known"].keys()

    assert ("warning", ()) == (found()[1].level, health(services))
    assert {"proven": 1} == run("lock_proof")
    assert 2 == len(found()[0].probes) == len(list(storage.list()))


def test_it_is_tried_at_the_start_each_week_and_with_another_server(services, make_collection, run, use):
    storage, now = use(Storage(retains=True)), utc_now()
    make_collection(locked=DAY)
    tries = []
    for passed, version in ((0, 1), (1, 1), (6, 1), (7.1, 1), (8, 1), (8.1, 2), (8.2, 1), (8.3, 2)):
        storage.version = f"store/{version}"
        run("lock_proof", now + passed * DAY)
        tries.append(storage.tries)

    assert [1, 1, 1, 2, 2, 3, 3, 3] == tries
    LockProofs(services.database, services.backends).run(now=now + 8.4 * DAY, keep_going=lambda: None)
    assert 4 == storage.tries


def test_nothing_is_tried_before_something_is_locked(make_collection, run, use):
    storage = use(Storage(retains=True))
    make_collection()

    assert {"proven": 0} == run("lock_proof")
    assert [] == list(storage.list())


def test_a_storage_that_cannot_retain_says_against_whom_a_lock_holds(make_collection, run, use, found):
    use(Storage())
    make_collection(locked=DAY)

    assert {"proven": 0} == run("lock_proof")

    assert "not against who can write to the storage" in found()[1].message
    assert "ok" == found()[1].level


@pytest.mark.parametrize("retains", [True, False])
def test_a_probe_is_deleted_after_its_time_also_when_nothing_is_locked_any_more(
    services, make_collection, run, use, retains, by
):
    storage, now = use(Storage(retains=retains)), utc_now()
    collection = make_collection(locked=timedelta(seconds=1))
    run("lock_proof", now)
    assert 1 == len(list(storage.list()))
    services.collections.delete(collection, by=by)

    for key in storage.retained:
        storage.retained[key] = datetime.min.replace(tzinfo=now.tzinfo)
    run("lock_proof", now + timedelta(hours=1))

    assert [] == list(storage.list())
