"""Fixtures: a restore test of the newest version of a collection with a command."""

import sys
from datetime import timedelta

import pytest

from frepo_core.db.models import Event
from frepo_core.features.restore_tests.feature import RestoreTestServices
from support.fixtures.restore_tests import *  # noqa: F403


@pytest.fixture
def restore(services, collection):
    """Test the newest version with a command line."""

    def restore(command, version="latest", seconds=20.0, by=None):
        return services.feature(RestoreTestServices).tests.run(
            services.collections.get(collection), version, command=command, timeout=timedelta(seconds=seconds), by=by
        )

    return restore


@pytest.fixture
def script(tmp_path):
    """Return a command line that runs a Python program."""

    def script(text):
        path = tmp_path / "restore.py"
        path.write_text(text)
        return f"{sys.executable} -S {path}"

    return script


@pytest.fixture
def recorded(services, collection):
    """Return the outcomes of the recorded checks, by number of version."""
    return lambda: {one.version_number: one.outcome for one in services.version_checks.of_collection(collection)}


@pytest.fixture
def events(services):
    """Return actor and data of the events about checks."""

    def events():
        with services.database.reading() as session:
            rows = session.query(Event).where(Event.kind == "version.checked").order_by(Event.id)
            return [(row.actor, row.version_number, row.data) for row in rows]

    return events
