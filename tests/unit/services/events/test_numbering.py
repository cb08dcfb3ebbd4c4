"""Events are numbered when they are visible: none is skipped, whatever the order of ids and commits."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Event
from frepo_core.domain.event_kinds import EventKind
from frepo_core.services.base.lease import LEADER
from frepo_core.services.events import numbering
from frepo_core.services.events.chain import COLUMNS, canonical_form, digest_of, next_link
from frepo_core.services.events.numbering import find_last_position, number_events
from frepo_core.services.events.queries import read_events
from frepo_core.services.events.recording import NewEvent, record

pytestmark = pytest.mark.databases


@pytest.fixture
def leader(make_lease):
    lease = make_lease("first", LEADER)
    assert lease.try_acquire()
    return lease


def new(name):
    return NewEvent(kind=EventKind.FILE_DELETED, by=None, data={"name": name})


@pytest.fixture
def happen(services):
    return lambda *names: services.database.write(lambda session: record(session, *map(new, names)))


def positions(services):
    with services.database.reading() as session:
        rows = session.scalars(select(Event).order_by(Event.position))
        return [(row.data["name"], row.position) for row in rows if row.position is not None]


def follow(services, seen):
    """Read the events after those that were seen, as a subscriber does."""
    last = max((position for _, position in seen), default=0)
    found = read_events(services.database, after=last, since=None, kinds=("*",), limit=100)
    seen += [(event.data["name"], event.position) for event in found]


@pytest.mark.databases("postgresql", "mariadb")
def test_an_id_that_becomes_visible_late_is_delivered(services, happen, leader):
    """SQLite has one writer at a time, so its ids are in the order of commits."""
    seen = []
    with Session(services.database.engine) as slow:
        record(slow, new("late"))
        slow.flush()
        happen("early")
        number_events(services.database, leader.epoch)
        follow(services, seen)
        slow.commit()
    number_events(services.database, leader.epoch)
    follow(services, seen)

    with services.database.reading() as session:
        by_id = [row.data["name"] for row in session.scalars(select(Event).order_by(Event.id))]
    assert ["late", "early"] == by_id
    assert [("early", 1), ("late", 2)] == seen


@pytest.mark.databases("postgresql", "mariadb")
def test_an_open_transaction_does_not_delay_the_numbering_of_others(services, happen, leader):
    with Session(services.database.engine) as slow:
        record(slow, new("open"))
        slow.flush()
        happen("a", "b")

        assert 2 == number_events(services.database, leader.epoch)
        assert [("a", 1), ("b", 2)] == positions(services)


def test_numbers_have_no_gaps_and_go_on(services, happen, leader, monkeypatch):
    monkeypatch.setattr(numbering, "_UNNUMBERED", numbering._UNNUMBERED.limit(2))
    happen("a", "b", "c")
    happen("d", "e")
    while number_events(services.database, leader.epoch):
        pass

    assert [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)] == positions(services)


def test_an_old_leader_numbers_nothing(services, happen, leader, make_lease):
    leader.release()
    second = make_lease("second", LEADER)
    assert second.try_acquire()
    happen("a")

    assert 0 == number_events(services.database, 1)
    assert [] == positions(services)
    assert 1 == number_events(services.database, second.epoch)


def test_a_position_is_not_used_again_after_all_events_were_deleted(services, happen, leader):
    from frepo_core.services.events.subscriptions import create_subscriptions

    happen("a", "b")
    number_events(services.database, leader.epoch)
    create_subscriptions(services.database, ["log"])
    services.database.write(lambda session: [session.delete(row) for row in session.scalars(select(Event))])
    happen("c")
    number_events(services.database, leader.epoch)

    assert [("c", 3)] == positions(services)
    assert 3 == find_last_position(services.database)


def test_each_event_is_linked_to_the_one_before(services, happen, leader, monkeypatch):
    monkeypatch.setattr(numbering, "_UNNUMBERED", numbering._UNNUMBERED.limit(2))
    happen("a", "b", "c")
    happen("d")
    while number_events(services.database, leader.epoch):
        pass

    with services.database.reading() as session:
        rows = session.execute(select(*COLUMNS, Event.position, Event.link).order_by(Event.position)).all()
    link = ""
    for row in rows:
        link = next_link(link, digest_of(canonical_form(row, row.position)))
        assert link == row.link
    assert 4 == len({row.link for row in rows})
