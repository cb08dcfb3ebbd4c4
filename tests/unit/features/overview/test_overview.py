"""The overview of the service, its history, and the space of collections."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, update

from frepo_core.db import utc_now
from frepo_core.db.models import Event, JobState, Sample, StoredObject
from frepo_core.domain.limits import ONE, TOTAL
from frepo_core.errors import RuleError, StorageUnavailable
from frepo_core.features.overview.activity import count_recent
from frepo_core.features.overview.feature import OverviewServices
from frepo_core.features.overview.growth import Growth, grow
from frepo_core.features.overview.samples import take_samples
from frepo_core.services.base.keyset import PageRequest
from frepo_core.services.reports import sizes

NOW = datetime(2026, 5, 31, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def add_rows(services):
    return lambda model, rows: services.database.write(lambda session: session.execute(insert(model), rows))


def sample(at, size=0, collection=None, **more):
    counts = dict.fromkeys(("versions", "blobs"), 0) | dict.fromkeys(("sent", "uploads", "refusals"))
    return {"at": at, "collection_id": collection, "size": size} | counts | more


def event(kind, at, **data):
    return {"kind": kind, "at": at, "actor": "a", "data": data}


@pytest.mark.databases
class TestOverview:
    def test_equal_contents_are_sent_twice_and_stored_once(self, services, make_collection, push, upload):
        first, second = make_collection(), make_collection()
        push(first, b"12345")
        push(second, b"12345")
        upload(b"12345")
        upload(b"1")

        found = services.feature(OverviewServices).overviews.read()
        assert (2, 6, 16) == (found.sizes.blobs, found.sizes.stored, found.sizes.sent)
        assert {"ok": 2} == {state: number for state, number in found.collections.by_state.items() if number}
        assert 4 == found.last_day.uploads == found.last_month.uploads
        assert 0 < found.free_space <= found.total_space

    def test_refusals_damage_and_failing_jobs_are_counted(self, services, make_collection, push, add_rows):
        collection = make_collection(1, strategy="alert_when_backup_limit_reached")
        push(collection, b"1234")
        with pytest.raises(RuleError):
            push(collection, b"12345")
        yesterday = utc_now() - 2 * DAY
        add_rows(Event, [event("version.refused", yesterday, count=7), event("version.added", yesterday - 40 * DAY)])
        services.database.write(
            lambda session: session.execute(update(StoredObject).values(state="damaged", since=yesterday))
        )
        job = {"schedule": "off", "next_at": None, "reported_at": None}
        add_rows(JobState, [job | {"name": "good", "failing_since": None}, job | {"name": "bad", "failing_since": NOW}])

        found = services.feature(OverviewServices).overviews.read()
        assert (1, 1) == (found.last_day.uploads, found.last_day.refusals)
        assert (1, 8) == (found.last_month.uploads, found.last_month.refusals)
        assert (1, ["bad"]) == (found.damaged_blobs, found.failing_jobs)
        assert 1 == found.collections.by_state["damaged"]

    def test_many_files_are_not_added_up_at_each_request(self, services, upload, monkeypatch):
        monkeypatch.setattr(sizes, "MEASURED_AT_ONCE", 1)
        upload(b"12345", "a.txt")
        upload(b"123", "b.txt")
        assert 8 == services.feature(OverviewServices).overviews.read().sizes.stored  # there is no sample yet

        take_samples(services.database, services.backends, now=NOW)
        upload(b"1", "c.txt")

        found = services.feature(OverviewServices).overviews.read().sizes
        assert (NOW, 8, 8) == (found.at, found.stored, found.sent)

    @pytest.mark.parametrize("error", [StorageUnavailable("no answer"), ZeroDivisionError()])
    def test_the_free_space_is_known_if_the_storage_cannot_tell_the_total(self, services, upload, monkeypatch, error):
        def fail():
            raise error

        upload(b"1")
        monkeypatch.setattr(services.backends.get("local")._backend, "total_space", fail)

        found = services.feature(OverviewServices).overviews.read()

        assert found.free_space is not None
        assert found.total_space is None

    def test_a_storage_that_does_not_answer_has_an_unknown_free_space(self, services, monkeypatch):
        def fail():
            raise StorageUnavailable("down")

        monkeypatch.setattr(services.backends.get("local")._backend, "free_space", fail)

        found = services.feature(OverviewServices).overviews.read()
        assert (None, None) == (found.free_space, found.total_space)


@pytest.mark.databases
class TestHistory:
    def test_a_sample_counts_uploads_since_that_of_the_day_before(self, services, add_rows):
        times = [NOW - 36 * timedelta(hours=1), NOW - timedelta(hours=30), NOW - timedelta(hours=1)]
        add_rows(Event, [event("version.added", at) for at in times] + [event("version.refused", NOW, count=3)])
        for at in (NOW - DAY, NOW - timedelta(hours=2), NOW):
            take_samples(services.database, services.backends, now=at)

        found = services.feature(OverviewServices).overviews.history(None, PageRequest()).items
        assert [(NOW - DAY, 2, 0), (NOW, 1, 3)] == [(one.at, one.uploads, one.refusals) for one in found]


@pytest.mark.databases
class TestActivity:
    def test_past_days_are_read_from_samples_and_today_from_events(self, services, add_rows):
        add_rows(Sample, [sample(NOW - days * DAY, uploads=10, refusals=1) for days in (1, 2, 29, 31)])
        add_rows(Event, [event("file.added", NOW - hours * DAY / 24) for hours in (1, 23, 25)])

        with services.database.reading() as session:
            today, found = count_recent(session, NOW, short=DAY, long=30 * DAY)

        assert 2 == today.uploads
        assert (32, 3) == (found.uploads, found.refusals)

    def test_days_before_the_first_sample_are_read_from_events(self, services, add_rows):
        add_rows(Sample, [sample(NOW - days * DAY, uploads=10, refusals=0) for days in (1, 2)])
        add_rows(Event, [event("file.added", NOW - days * DAY) for days in (0.5, 1.5, 2.5, 29, 31)])

        with services.database.reading() as session:
            found = count_recent(session, NOW, short=DAY, long=30 * DAY)[1]

        # Today's event, the newer sample, and the two events of before the first sample.
        assert 1 + 10 + 2 == found.uploads


class TestGrowth:
    def test_the_day_on_which_it_is_full_follows_from_the_rate(self):
        for days, size, free, expected in [
            (10, 100, 50, (10, "2026-06-05")),
            (10, 100, 0, (10, "2026-05-31")),
            (10, 100, None, (10, None)),
            (10, -100, 50, (-10, None)),
            (10, 0, 50, (0, None)),
            (0.5, 100, 50, (None, None)),
            (10, 1, 10**9, (0, None)),
        ]:
            found = grow(NOW - days * DAY, 1000, NOW, 1000 + size, free)

            assert expected == (found.per_day, found.full_on and found.full_on.isoformat())

    def test_the_service_grows_as_in_the_last_30_days(self, services, add_rows, monkeypatch):
        now = utc_now()
        rows = [sample(now - days * DAY, size) for days, size in ((40, 0), (29, 1000), (9, 1500), (0.5, 1285))]
        add_rows(Sample, rows)
        monkeypatch.setattr(services.backends.get("local")._backend, "free_space", lambda: 1000)

        found = services.feature(OverviewServices).overviews.read().growth
        assert 10 == found.per_day
        assert (now + 100 * DAY).date() == found.full_on

    @pytest.mark.databases
    def test_collections_are_listed_by_size_with_their_growth(
        self, services, make_collection, push, add_rows, monkeypatch
    ):
        small, large, limited = make_collection(), make_collection(), make_collection(1, limits={ONE: 60, TOTAL: 70})
        for collection, size in ((small, 10), (large, 100), (limited, 40)):
            push(collection, b"x" * size)
        now = utc_now()
        at = now - 10 * DAY
        add_rows(Sample, [sample(at), sample(at, 110, large), sample(at, 10, limited)])

        found = services.feature(OverviewServices).overviews.usage(2)

        assert [(large, 100), (limited, 40)] == [(one.id, one.size) for one in found]
        assert [-1, 3] == [one.growth.per_day for one in found]
        assert [(20, "versions"), (10, "size")] == [
            ((one.growth.full_on - now.date()).days, one.growth.full_by) for one in found
        ]
        assert services.feature(OverviewServices).overviews.usage(3)[2].growth == Growth(per_day=None, full_on=None)

    def test_the_forecast_is_for_the_limit_that_is_reached_first(
        self, services, make_collection, push, add_rows, monkeypatch
    ):
        now = utc_now()
        limits = {"count": {ONE: 60, TOTAL: 10**6}, "size": {ONE: 60, TOTAL: 700}, "disk": {ONE: 60, TOTAL: 10**6}}
        made = {name: make_collection(30 if name == "count" else 0, limits=one) for name, one in limits.items()}
        for name, collection in made.items():
            for number in range(10):
                push(collection, f"{name} {number}".encode().ljust(50))
        add_rows(Sample, [sample(now - 10 * DAY), *(sample(now - 10 * DAY, 0, one) for one in made.values())])
        service = replace(
            services.feature(OverviewServices).overviews.read(),
            growth=Growth(per_day=1, full_on=(now + 50 * DAY).date()),
        )

        found = {one.id: one.growth for one in services.feature(OverviewServices).overviews.usage(9, service)}

        assert {"count": (20, "versions"), "size": (4, "size"), "disk": (50, "disk")} == {
            name: ((found[one].full_on - now.date()).days, found[one].full_by) for name, one in made.items()
        }

    def test_a_collection_that_refuses_uploads_is_full_since_that_day(self, services, make_collection, push, add_rows):
        collection = make_collection(1, strategy="alert_when_backup_limit_reached", limits={ONE: 60, TOTAL: 10**6})
        push(collection, b"x" * 50)
        add_rows(Sample, [sample(utc_now() - 10 * DAY), sample(utc_now() - 10 * DAY, 10, collection)])
        with pytest.raises(RuleError):
            push(collection, b"y" * 50)

        [found] = services.feature(OverviewServices).overviews.usage(1)

        assert (True, utc_now().date(), "versions") == (
            *(found.growth.is_full, found.growth.full_on),
            found.growth.full_by,
        )
