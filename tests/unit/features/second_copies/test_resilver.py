"""`storage:resilver` copies what a storage lacks, the newest first. A thief in the first one reaches no copy."""

from datetime import timedelta

import pytest
from sqlalchemy import delete

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.features.second_copies import lacks, work_queue
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.plugins import LeaseLost
from frepo_core.services.upkeep.storage import OwnerMark
from frepo_core.testing import Fail


@pytest.fixture
def resilver(services):
    def resilver(**options):
        return services.feature(SecondCopyServices).mirror.resilver(
            "second", **({"keep_going": lambda: None} | options)
        )

    return resilver


def test_the_newest_contents_are_copied_first(services, add, second, monkeypatch):
    files = [add(b"%d" % number) for number in range(5)]
    services.database.execute(
        delete(StoredObject).where(StoredObject.role == "copy")
    )  # as if the mirror was switched on now
    services.feature(SecondCopyServices).mirror.compare(keep_going=lambda: None)
    newer = add(b"new")
    monkeypatch.setattr(work_queue, "BATCH", 2)

    tasks = work_queue.claim_batch(services.database, services.backends, "second", [])

    assert [newer.blob.digest, files[-1].blob.digest] == [task.digest for task in tasks]


def test_a_run_that_was_stopped_goes_on(services, add, second, resilver, monkeypatch):
    monkeypatch.setattr(work_queue, "BATCH", 2)
    for number in range(5):
        add(b"%d" % number)

    def stop():
        if second.stored():
            raise LeaseLost

    with pytest.raises(LeaseLost):
        resilver(keep_going=stop)
    assert services.feature(SecondCopyServices).mirror.lack("second").copies

    resilver()

    assert 0 == services.feature(SecondCopyServices).mirror.lack("second").copies
    assert second.present_keys() == second.stored()


def test_what_waits_after_a_failure_is_tried_at_once(services, add, mirror, second, resilver):
    add(b"one")
    with_bytes = second.backend
    second.fail(Fail("store", nth=2))
    mirror()
    services.backends._built["second"] = with_bytes
    assert 0 == mirror()["copied"]

    assert 1 == resilver().copied


def test_copies_that_have_vanished_are_found_and_made_again(services, add, mirror, second, resilver):
    for number in range(3):
        add(b"%d" % number)
    mirror()
    second.backend.delete(second.present_keys()[0])
    assert 0 == resilver().copied

    assert 1 == services.feature(SecondCopyServices).mirror.find_missing("second", keep_going=lambda: None)
    assert 1 == resilver().copied
    assert second.present_keys() == second.stored()


def test_a_host_whose_clock_is_a_day_ahead_delays_no_copy(services, add, mirror, second, resilver, monkeypatch):
    """Times of objects are those of the database's clock, which all hosts share."""
    add(b"content")
    mirror()
    second.backend.delete(second.present_keys()[0])
    monkeypatch.setattr(lacks, "utc_now", lambda: utc_now() + timedelta(days=1), raising=False)

    assert 1 == services.feature(SecondCopyServices).mirror.find_missing("second", keep_going=lambda: None)
    assert 1 == mirror()["copied"]


@pytest.mark.costly
def test_a_thief_with_the_keys_of_the_first_storage_reaches_no_copy(services, backend, add, mirror, second, read, run):
    files = {content: add(content) for content in (b"a", b"b", b"c", b"d")}
    mirror()
    copies = {key: second.backend.path(key).read_bytes() for key in second.stored()}
    for number, stat in enumerate(sorted(backend.list(), key=lambda stat: stat.key)):
        if OwnerMark.parse(stat.key) is None:
            path = backend.path(stat.key)
            path.write_bytes(b"x" * stat.size) if number % 2 else path.unlink()

    for _ in range(2):  # a download of wrong bytes breaks off; the next one comes from the copy
        for content, file in files.items():
            try:
                assert content == read(file)
            except Exception:  # noqa: BLE001  # what it raises is the business of other tests
                assert b"x" == backend.path(file.blob.key).read_bytes()
    for job in ("verify", "mirror", "mirror"):
        run(job)

    assert {content: read(file) for content, file in files.items()} == {content: content for content in files}
    assert copies == {key: second.backend.path(key).read_bytes() for key in second.stored()}
