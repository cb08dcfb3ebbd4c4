"""The job `mirror` makes second copies, and says that one is present only after it has read it back."""

from io import BytesIO

import pytest
from sqlalchemy import delete as delete_rows

from frepo_core import assemble
from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.errors import ConfigurationError, StorageFull
from frepo_core.features.second_copies import work_queue
from frepo_core.plugins import LeaseLost
from frepo_core.testing import Fail, FaultyStorage, Truncate


@pytest.mark.databases
def test_each_content_gets_a_copy_with_a_key_of_its_own(add, mirror, second, read):
    files = [add(text) for text in (b"one", b"two", b"one")]
    assert ["wanted", "wanted"] == second.states()

    report = mirror()

    assert (2, 6, 0) == (report["copied"], report["size"], report["failed"])
    assert ["present", "present"] == second.states()
    assert second.present_keys() == second.stored()
    assert not {file.blob.key for file in files} & set(second.stored())


def test_a_second_run_copies_nothing(add, mirror):
    add(b"one")
    mirror()

    assert 0 == mirror()["copied"]


def test_a_copy_that_is_read_back_with_other_bytes_is_not_present(services, add, mirror, second):
    class Liar(FaultyStorage):
        def store(self, key, content, size):
            content.read(size)
            super().store(key, BytesIO(b"x" * size), size)

    add(b"one")
    honest = second.backend
    services.backends._built["second"] = Liar(honest)

    assert 1 == mirror()["failed"]

    assert ["wanted"] == second.states()
    assert "its content is not what was stored" in second.rows()[0].error
    services.backends._built["second"] = honest
    second.make_due()
    assert 1 == mirror()["copied"]
    assert second.present_keys() == second.stored()


def full():
    return StorageFull("no room")


@pytest.mark.parametrize(
    "fault",
    [
        Fail("store", nth=2),
        Fail("store", nth=2, after=1),
        Truncate("store", nth=2),
        Fail("store", nth=2, error=full),
    ],
    ids=["fails", "breaks", "truncates", "full"],
)
def test_a_failed_copy_is_tried_again_and_leaves_no_bytes(add, mirror, second, fault):
    add(b"one")
    second.fail(fault)

    report = mirror()

    assert (0, 1) == (report["copied"], report["failed"])
    second.make_due()
    assert 1 == mirror()["copied"]
    assert second.present_keys() == second.stored()


def test_a_failed_copy_waits_longer_each_time(add, mirror, second):
    mirror()
    add(b"one")
    second.fail(Fail("store", nth=0, error=full))
    pauses = []
    for _ in range(3):
        second.make_due()
        mirror()
        pauses.append(second.rows()[0].next_try - utc_now())
    assert pauses[0] < pauses[1] < pauses[2]
    assert 3 == second.rows()[0].attempts


def test_a_storage_that_is_away_costs_no_upload_and_no_attempt(add, mirror, second, kinds):
    second.fail(*(Fail(method, nth=0) for method in ("store", "stat", "open", "path", "list")))

    add(b"one")
    report = mirror()

    assert "made to fail" in report["problem"]
    assert (["wanted"], 0) == (second.states(), second.rows()[0].attempts)
    assert 1 == kinds().count("storage.unavailable")


def test_a_storage_that_fails_three_times_is_skipped(add, mirror, second):
    add(b"first")
    mirror()
    for number in range(30):
        add(b"%d" % number)
    faulty = second.fail(Fail("store", nth=0))

    report = mirror()

    assert 3 <= report["failed"] == faulty.calls["store"] < 3 + 4, "four are copied at once"
    assert "made to fail" in report["problem"]


def test_what_came_before_the_mirror_was_switched_on_gets_copies(services, add, mirror, second, monkeypatch):
    for number in range(7):
        add(b"%d" % number)
    services.database.execute(delete_rows(StoredObject).where(StoredObject.role == "copy"))
    monkeypatch.setattr("frepo_core.features.second_copies.gaps.PAGE", 3)

    report = mirror()

    assert (7, 7) == (report["wanted"], report["copied"])
    services.database.execute(delete_rows(StoredObject).where(StoredObject.role == "copy"))
    assert 0 == mirror()["wanted"], "it compares once a day"


def test_a_run_that_lost_its_lease_is_continued(add, mirror, run, second, monkeypatch):
    monkeypatch.setattr(work_queue, "BATCH", 2)
    for number in range(5):
        add(b"%d" % number)

    def lose():
        if len(second.stored()) > 2:
            raise LeaseLost

    run.check = lose
    with pytest.raises(LeaseLost):
        mirror()

    run.check = lambda: None
    mirror()
    assert 5 * ["present"] == second.states()
    assert second.present_keys() == second.stored()


def test_a_key_that_was_claimed_by_another_process_is_not_taken(services, add, mirror, second):
    add(b"one")
    [task] = work_queue.claim_batch(services.database, services.backends, "second", [])
    second.make_due()
    mirror()  # the other process
    [row] = second.rows()
    assert row.key != task.key


def test_the_storage_for_new_blobs_is_no_mirror(services, ini, plugins):
    for name, reason in (("local", "is the storage for new blobs"), ("offsite", "offsite")):
        with pytest.raises(ConfigurationError, match=reason):
            assemble(ini | {"mirror": name}, {}, plugins).build_all()


class TestRestored:
    """What is restored from the trash wants a copy, also if it was deleted before the mirror was switched on."""

    @pytest.fixture
    def ini(self, ini):
        return ini | {"trash.keep": "7d"}

    def test_a_version(self, services, make_collection, push, second, sender):
        collection = make_collection()
        push(collection, b"one")
        services.versions.delete(collection, "v1", by=sender)
        services.database.execute(delete_rows(StoredObject).where(StoredObject.role == "copy"))

        services.trash.restore(collection, 1, by=sender)

        assert ["wanted"] == second.states()

    def test_a_collection(self, services, make_collection, push, second, sender):
        collection = make_collection()
        push(collection, b"one")
        push(collection, b"two")
        services.collections.delete(collection, by=sender, with_versions=True)
        services.database.execute(delete_rows(StoredObject).where(StoredObject.role == "copy"))

        services.deleted_collections.restore(collection, by=sender)

        assert ["wanted", "wanted"] == second.states()
