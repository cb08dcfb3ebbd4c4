"""Nights on which the dump is broken: people get one message about each, and none again about what they know."""

import gzip
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db.models import Event
from frepo_core.plugins.registry import PluginRegistry
from support.client import Client
from support.own_plugins import open_services  # noqa: F401  # a fixture

WHOLE = gzip.compress(b"CREATE TABLE a (b int);\nINSERT INTO a VALUES (7);\n-- Dump completed on 2026-03-01\n" * 20)
MORNING_JOBS = ("integrity_deep", "overdue", "trash", "samples")


@pytest.fixture(scope="session")
def plugins():
    """All installed plug-ins, with the check that finds broken dumps."""
    return PluginRegistry.from_entry_points()


@pytest.fixture
def targets(mail):
    return f"people {mail.url}"


@pytest.fixture
def root(app, admin):
    return Client(app, admin)


@pytest.fixture
def number_events(services):
    """Give the new events their positions, as the worker does."""

    def number_events():
        with services.database.reading() as session:
            new = session.scalars(select(Event.id).where(Event.position.is_(None)).order_by(Event.id)).all()
        for number in new:
            statement = update(Event).where(Event.id == number).values(position=number)
            services.database.write(lambda session, statement=statement: session.execute(statement))

    return number_events


@pytest.mark.costly
def test_each_broken_night_is_told_once(root, services, mail, deliver, number_events, clock):
    collection = root.create(filename="shop.sql.gz", maxBackupsCount=2).json["collection"]["id"]
    told = []
    for content in (WHOLE, WHOLE[:-9], WHOLE[:-9], WHOLE, WHOLE[:-9]):
        root.push(collection, content)
        for job in MORNING_JOBS:
            services.jobs.run(job, cause="console")
        number_events()
        deliver("people", timedelta(hours=1))
        clock.time += timedelta(hours=23)  # what this day brings is told in the next hour
        told.append([str(found["Subject"]) for found in mail.mails])
        mail.mails.clear()

    deliver("people", timedelta(hours=1))
    assert [] == mail.mails
    assert [[], 1, 1, [], 1] == [len(subjects) or subjects for subjects in told]
    assert all("shop.sql.gz" in subject and "roken" in subject for subjects in told for subject in subjects)
