"""The job of the deep checks next to the other jobs of a service, with a simulated clock."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from frepo_core.db.models import Version
from frepo_core.services.base.lease import Lease, LeaseTerms
from frepo_core.services.events.masking import Mask
from frepo_core.services.upkeep.engine.job_runner import JobRunner
from frepo_core.services.upkeep.engine.lane import Lane, lease_name
from frepo_core.services.upkeep.engine.worker import LANES
from support.client import Client
from support.compressors import COMPRESSORS, rows

LARGE = COMPRESSORS["gzip"]["gzip"](rows(20_000))
QUARTER = 900


@pytest.fixture
def ini(ini):
    return ini | {"integrity.inline_limit": "1kB"}


class Clock:
    """The database's clock, moved by the test."""

    def __init__(self):
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def wait(self, seconds):
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock(services, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(services.database, "now", lambda: clock.time)
    return clock


@pytest.fixture
def make_lanes(services, clock):
    """Make all lanes of a worker over the service's jobs, of which some are replaced."""

    def make_lane(name, jobs):
        lease = Lease(services.database, lease_name(name), holder="a worker", terms=LeaseTerms())
        return Lane(services.database, name, jobs, lease=lease, runner=JobRunner(services.database, Mask()))

    return lambda jobs: {name: make_lane(name, jobs) for name in LANES}


def run_due_jobs(lane):
    """Do what a lane has to do now, as its thread does."""
    while lane.step(1) == 0:
        pass


@pytest.mark.costly
def test_a_large_backup_is_checked_within_the_hour_although_verify_runs(app, admin, services, clock, make_lanes):
    root = Client(app, admin)
    collection = root.create(filename="db.sql.gz").json["collection"]["id"]
    outcomes = []

    def verify(context):
        root.push(collection, LARGE)
        for _ in range(4):
            clock.wait(QUARTER)
            for name in set(LANES) - {"long"}:
                run_due_jobs(lanes[name])
            outcomes.append(services.version_checks.of_collection(collection)[0].outcome)
        return {}

    jobs = dict(services.jobs.scheduled)
    jobs["verify"] = replace(jobs["verify"], job=replace(jobs["verify"].job, run=verify))
    lanes = make_lanes(jobs)
    for lane in lanes.values():
        run_due_jobs(lane)  # calculates the first turns
    while not outcomes:
        clock.wait(QUARTER)
        lanes["long"].step(1)

    assert "good" == outcomes[-1]


class TestStoppedWorker:
    """No worker has run for two days, in which large dumps have arrived that were cut."""

    @pytest.fixture
    def root(self, app, admin):
        return Client(app, admin)

    @pytest.fixture
    def collection(self, root):
        return root.create(filename="db.sql.gz", maxBackupsCount=3).json["collection"]["id"]

    @pytest.fixture
    def lanes(self, root, services, clock, collection, make_lanes):
        lanes = make_lanes(services.jobs.scheduled)
        for lane in lanes.values():
            run_due_jobs(lane)  # calculates the first turns
        small = [COMPRESSORS["gzip"]["gzip"](b"%d" % number) for number in range(3)]
        for content in (*small, *(LARGE[: -100 - number] for number in range(6))):
            assert 200 == root.push(collection, content).status_int
        clock.wait(48 * 4 * QUARTER)
        two_days_ago = clock.time - timedelta(days=2)
        waiting = Version.pending_since.is_not(None)
        services.database.execute(update(Version).where(waiting).values(pending_since=two_days_ago))
        return lanes

    def verdicts(self, root, collection):
        found = root.get(f"/api/v1/collections/{collection}/versions?sort=number").json["items"]
        return [one["verdict"] for one in found if not one["quarantined"]]

    @pytest.mark.costly
    def test_the_checks_come_first_when_one_runs_again(self, root, collection, lanes):
        assert ["whole"] * 3 + ["pending"] * 2 == self.verdicts(root, collection)
        for name in sorted(lanes, key="short".__ne__):
            run_due_jobs(lanes[name])

        assert ["whole"] * 3 == self.verdicts(root, collection)

    def test_a_check_that_hangs_evicts_older_good_versions_and_keeps_the_newest_one(
        self, root, collection, lanes, clock
    ):
        for _ in range(3):
            run_due_jobs(lanes["short"])
            clock.wait(4 * QUARTER)

        assert ["whole", "pending", "pending"] == self.verdicts(root, collection)[-3:]
        good = root.get(f"/api/v1/collections/{collection}/versions/good").json["number"]
        assert 3 == good
