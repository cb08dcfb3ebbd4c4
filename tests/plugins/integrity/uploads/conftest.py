"""Fixtures: the API with the checks of frepo-integrity, and what they recorded."""

import pytest
from sqlalchemy import select

from frepo_core.db import utc_now
from frepo_core.db.models import Event
from frepo_core.plugins import JobContext
from frepo_integrity import deep_check


@pytest.fixture
def settings():
    return {}


@pytest.fixture
def ini(ini, settings):
    return ini | settings


@pytest.fixture
def collection(root):
    return root.create(filename="db.sql.gz", maxBackupsCount=50).json["collection"]["id"]


@pytest.fixture
def results(services, collection):
    """The results of the checks of the collection's versions, without their times."""
    return lambda: [
        (one.version_number, one.outcome, one.details) for one in services.version_checks.of_collection(collection)
    ]


@pytest.fixture
def events(services):
    """The outcomes in the events about checks, with the actor's kind."""

    def events():
        with services.database.reading() as session:
            found = session.scalars(select(Event).where(Event.kind == "version.checked").order_by(Event.id))
            return [(row.version_number, row.data["outcome"], row.actor.partition(":")[0]) for row in found]

    return events


@pytest.fixture
def run_job(services):
    """Run the job as the worker does; return its summary."""

    def run_job(now=None, check_lease=lambda: None):
        own = services.contexts["integrity"]
        context = JobContext(
            settings=own.settings,
            service=own.service,
            log=own.log,
            now=now or utc_now(),
            check_lease=check_lease,
            progress=lambda text: None,
        )
        return deep_check.run(context)

    return run_job
