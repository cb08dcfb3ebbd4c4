"""What reports say about compact storage: in all, of a collection, and that it is late."""

import pytest

from frepo_core.db.types import simulated_time
from frepo_core.errors import CompactLateError
from frepo_core.features.compact.feature import CompactServices
from frepo_core.features.doctor.compact import check_compact
from frepo_core.features.overview.feature import OverviewServices


def levels(services):
    return [finding.level.value for finding in check_compact(services)]


def test_the_doctor_says_what_waits_and_that_the_job_is_off(history, services):
    collection = history.make()
    for _ in range(3):
        history.push(collection)
    assert ["ok"] == levels(services)
    history.job(minutes=5)  # uploads come at this hour
    assert ["warning"] == levels(services)
    history.job()
    assert ["ok"] == levels(services)
    object.__setattr__(services.settings, "compact", False)
    assert ["warning"] == levels(services)


@pytest.mark.costly
def test_reports_count_stored_bytes(history, services):
    collection = history.make()
    for _ in range(5):
        history.push(collection)
    before = services.feature(OverviewServices).overviews.read()
    history.job()
    history.job(days=3)  # the former bytes are deleted
    after, space = (
        services.feature(OverviewServices).overviews.read(),
        services.feature(CompactServices).spaces.read_collection(collection),
    )

    rows = history.rows(collection).values()
    assert (0, 4, 3) == (before.compact.figures.encoded, after.compact.figures.encoded, after.compact.figures.depth)
    assert before.sizes.stored - after.sizes.stored == after.compact.figures.saved
    assert before.sizes.sent == after.sizes.sent == space.size
    assert {collection: space.stored} == services.feature(CompactServices).spaces.read_stored([collection, "another"])
    assert (5, 4, 3, sum(row.object_size for row in rows)) == (space.contents, space.encoded, space.depth, space.stored)


@pytest.mark.costly
def test_bases_that_nothing_else_uses_are_a_debt(history, services):
    collection = history.make()
    for _ in range(4):
        history.push(collection)
    history.job()
    services.feature(CompactServices).spaces.check()
    history.delete(collection, "v2", "v3", "v4")
    history.job("trash", days=4)
    base = services.feature(CompactServices).spaces.read()

    assert ["problem", "ok"] == levels(services)
    with pytest.raises(CompactLateError, match="frepo jobs compact"):
        services.feature(CompactServices).spaces.check()
    assert base.debt
    with simulated_time(history.time):
        services.feature(CompactServices).compaction.run(keep_going=lambda: None)
    services.feature(CompactServices).spaces.check()
    assert 0 == services.feature(CompactServices).spaces.read().debt
    history.check()


def test_the_doctor_says_that_the_newer_format_may_be_used(history):
    history.night(history.make())

    found = list(check_compact(history.services))

    assert ["`compact.format` may be set to 2 now" in one.message for one in found] == [True]
