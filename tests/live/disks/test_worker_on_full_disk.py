"""What the worker writes on a full disk: leases, positions, cursors, parked events, runs, events of deletions."""

import pytest
from sqlalchemy import update

from frepo_core.db import Database
from frepo_core.db.models import Lease as LeaseRow
from frepo_core.domain.event_kinds import EventKind
from frepo_core.errors import StorageFull
from frepo_core.plugins import Event
from frepo_core.services.base.lease import LEADER, Lease, LeaseTerms
from frepo_core.services.events.numbering import number_events
from frepo_core.services.events.parked_events import park_event
from frepo_core.services.events.recording import NewEvent, record
from frepo_core.services.events.subscriptions import adopt_cursor, create_subscriptions, save_cursor
from frepo_core.services.upkeep.engine.job_runs import begin_run
from support.servers.disks import small_disk

NEW_EVENT = NewEvent(kind=EventKind.TOKEN_REVOKED, by=None)


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", "24m") as folder:
        yield folder


@pytest.fixture
def ini(ini, disk):
    return ini | {"database.url": f"sqlite:///{disk}/frepo.db", "database.reserve": "4MiB"}


@pytest.fixture
def bare(services):
    """The same database without the reserve."""
    return Database(services.database.engine)


class Leader:
    """What a leading worker writes. Each method returns whether it was written, to the database that it gets."""

    def __init__(self, database):
        self.lease = make_lease(database, LEADER)
        assert self.lease.try_acquire()
        database.write(lambda session: record(session, NEW_EVENT))
        assert 1 == number_events(database, self.lease.epoch)
        database.write(lambda session: record(session, NEW_EVENT))
        create_subscriptions(database, ["mail"])
        self.cursor = adopt_cursor(database, "mail", self.lease.epoch, None)

    def acquire(self, database):
        return make_lease(database, "lane:long").try_acquire()

    def renew(self, database):
        lease = make_lease(database, LEADER)
        lease.epoch = self.lease.epoch
        return lease.renew()

    def number(self, database):
        return number_events(database, self.lease.epoch) == 1

    def move_cursor(self, database):
        self.cursor.position = 7
        save_cursor(database, self.cursor)
        return adopt_cursor(database, "mail", self.lease.epoch, None).position == 7

    def park(self, database):
        event = Event(id=1, position=1, at=database.now(), kind="token.revoked", actor="console:root", data={})
        park_event(database, self.cursor, event, database.now())
        return True

    def begin_job(self, database):
        return begin_run(database, "sweep", "long", self.lease, cause="schedule", now=database.now()) == 1

    def record_deletion(self, database):
        database.write(lambda session: record(session, NEW_EVENT), may_use_reserve=True)
        return True


def make_lease(database, name):
    return Lease(database, name, holder="a", terms=LeaseTerms())


def fill(disk, bare):
    """Leave no space on the disk, and none in the write-ahead log."""
    with bare.autocommit() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    for _ in range(20):
        with (disk / "filler").open("ab", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass
        try:
            bare.execute(update(LeaseRow).values(renewals=LeaseRow.renewals + 1))
        except StorageFull:
            return
    raise AssertionError("the disk is not full")


@pytest.mark.costly
@pytest.mark.parametrize("work", [name for name in vars(Leader) if not name.startswith("_")])
def test_the_worker_writes_from_the_reserve(services, bare, disk, work):
    leader = Leader(services.database)
    services.database.refill_reserve()
    fill(disk, bare)
    write = getattr(leader, work)
    with pytest.raises(StorageFull):
        write(bare)

    assert write(services.database)
    assert 4 << 20 == (disk / "frepo.db-reserve").stat().st_size


def test_a_leader_writes_again_and_again(services, bare, disk):
    leader = Leader(services.database)
    services.database.refill_reserve()

    for _ in range(30):
        fill(disk, bare)
        assert leader.renew(services.database) and leader.move_cursor(services.database)

    assert 2 << 20 < (disk / "frepo.db-reserve").stat().st_size
