"""How far behind second copies are is shown, and an event and the health checks say when that is too far."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.errors import MirrorLateError, SweepStoppedError
from frepo_core.features.doctor.copies import check_copies
from frepo_core.features.doctor.data import check_storage
from frepo_core.features.overview.feature import OverviewServices
from frepo_core.features.overview.status import read_status
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.reports.statistics import read_statistics
from frepo_core.services.upkeep.storage import verify_copies
from frepo_core.testing import Fail

DAY = timedelta(days=1)


@pytest.fixture
def age(services):
    """Let the copies that are wanted wait for some days already."""

    def age(days):
        services.database.execute(update(StoredObject).values(since=utc_now() - days * DAY))

    return age


@pytest.fixture
def figures(services):
    def figures():
        [found] = services.feature(SecondCopyServices).reports.read()
        return found

    return figures


@pytest.mark.costly
@pytest.mark.databases
def test_what_waits_is_counted(services, make_collection, push, add, mirror, figures, second):
    collection = make_collection()
    push(collection, b"version")
    add(b"file")

    found = figures()

    assert ("second", 2, 11, 1) == (found.storage, found.behind, found.size, found.versions)
    assert found.age(utc_now()) < timedelta(minutes=1)
    mirror()
    assert (0, 0, None, 0) == (figures().behind, figures().size, figures().oldest_at, figures().versions)


@pytest.mark.costly
def test_a_copy_that_is_too_late_is_an_event_and_fails_the_health_check(
    services, add, mirror, second, age, figures, kinds
):
    mirror()
    add(b"file")
    second.fail(Fail("store", nth=0))
    age(2)

    for _ in range(2):
        mirror()

    assert figures().is_late
    assert 1 == kinds().count("mirror.late")
    with pytest.raises(MirrorLateError, match="1 content waits for a second copy .* .4 bytes., the oldest for 2d"):
        services.feature(SecondCopyServices).reports.check()
    assert services.health.run()["copies"]
    assert ["problem"] == [finding.level.value for finding in check_copies(services)]
    said = [finding.message for finding in check_storage(services, services.health.run)]
    assert not any("second copy" in text for text in said), "said once, of the copies"
    services.backends._built.pop("second")
    second.make_due()
    mirror()
    assert 1 == kinds().count("mirror.recovered")
    assert not services.health.run()["copies"]
    assert ["ok"] == [finding.level.value for finding in check_copies(services)]


def test_what_keeps_copies_from_being_made_and_deleted_is_shown(services, add, mirror, second, figures, delete):
    files = [add(b"%d" % number) for number in range(4)]
    mirror()
    assert (0, 0, None, False) == (figures().damaged, figures().stopped, figures().state, figures().skipped)
    assert utc_now() - figures().compared_at < timedelta(minutes=1)
    for file in files[:2]:
        delete(file)
    with pytest.raises(SweepStoppedError):
        mirror()
    assert 2 == figures().stopped
    services.feature(SecondCopyServices).mirror.confirm("second", 2)
    mirror()
    second.backend.delete(second.present_keys()[0])
    verify_copies(services.database, services.backends, services.copies.storages())
    for _ in range(3):
        services.backends.breaker.failed("second")

    found = figures()

    assert (0, 1, 1, True) == (found.stopped, found.behind, found.damaged, found.skipped)


def test_the_checks_of_both_sides_are_shown(add, mirror, run, figures):
    add(b"file")
    mirror()
    assert (None, None) == (figures().checked_at, figures().first_checked_at)

    run("verify")

    assert utc_now() - figures().checked_at < timedelta(minutes=1)
    assert utc_now() - figures().first_checked_at < timedelta(minutes=1)


def test_the_status_the_overview_and_the_statistics_have_them(services, add):
    add(b"file")

    lines = read_status(services)

    assert ["1 content waits for a s"] == [line.text[:23] for line in lines if line.subject == "copies in second"]
    assert [1] == [one.behind for one in services.feature(OverviewServices).overviews.read().copies]
    found = read_statistics(services, services.figures).copies
    assert [("second", 1, False)] == [(one.storage, one.behind, one.is_late) for one in found]


def test_reads_that_fell_back_are_counted_by_storage(services, add, mirror, path_of, read, figures):
    services.object_reads.notes._start = lambda work: work()
    file = add(b"x" * 100_000)
    mirror()
    path_of(file).unlink()

    read(file)

    assert 1 == figures().fallbacks
