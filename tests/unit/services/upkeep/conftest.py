"""Fixtures: a built-in job run at a chosen time, and files."""

import logging
import os
import signal
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO

import pytest
from sqlalchemy import select

from frepo_core.db import utc_now
from frepo_core.db.models import Event
from frepo_core.domain.naming import new_blob_key
from frepo_core.domain.roles import Role
from frepo_core.plugins import JobContext
from frepo_core.services.base import failpoints, rate_limit
from frepo_core.services.composition.builtin_jobs import upkeep_jobs
from frepo_core.services.composition.facade.plugin_service import PluginService
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import NewFile

NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)


@dataclass
class Runner:
    """Runs jobs as the worker does. `check` may raise, as if another worker led. `notes` are the texts of progress."""

    services: object
    check: object = lambda: None
    notes: list[str] = field(default_factory=list)

    def __call__(self, name, now=None):
        jobs = {job.name: job for job in upkeep_jobs(self.services)}
        context = JobContext(
            settings=None,
            service=PluginService(),
            log=logging.getLogger(__name__),
            now=now or utc_now(),
            check_lease=self.check,
            progress=self.notes.append,
        )
        return jobs[name].run(context)


@pytest.fixture
def run(services):
    return Runner(services)


@pytest.fixture
def by(services, make_token):
    return services.tokens.look_up(make_token(Role.ADMINISTRATOR))


@pytest.fixture
def add(services, by):
    """Store a content, return the file."""
    return lambda content: services.files.add(NewFile(name="a.txt"), Incoming(stream=BytesIO(content)), by=by).file


@pytest.fixture
def backend(services):
    return services.backends.get("local")


@pytest.fixture
def path_of(backend):
    """Return the path of the stored bytes of a file."""
    return lambda file: backend.path(file.blob.key)


@pytest.fixture
def events(services):
    """Return the kinds and actors of all events of jobs."""

    def events():
        with services.database.reading() as session:
            query = select(Event).where(Event.actor.like("system:%")).order_by(Event.id)
            return [(row.kind, row.actor) for row in session.scalars(query)]

    return events


@pytest.fixture
def orphan(backend):
    """Store bytes without a row, dated three days ago."""

    def orphan():
        key = new_blob_key("ab" * 32)
        backend.store(key, BytesIO(b"orphan"), 6)
        path = backend.path(key)
        os.utime(path, (time.time() - 3 * 86_400,) * 2)
        return path

    return orphan


@pytest.fixture
def at_each_piece(monkeypatch):
    """Check the lease at each piece that is read, not once a second."""
    monkeypatch.setattr(rate_limit, "CHECK_SECONDS", 0)


@pytest.fixture
def run_and_die(services):
    """Run a job in a process that is killed at a point of `failpoints`."""

    def run_and_die(job, point):
        child = os.fork()
        if not child:
            try:
                services.database.engine.dispose(close=False)
                failpoints._armed = point
                job()
            finally:
                os._exit(1)
        assert signal.SIGKILL == os.WTERMSIG(os.waitpid(child, 0)[1])

    return run_and_die
