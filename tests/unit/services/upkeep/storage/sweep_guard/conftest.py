"""Fixtures: sweeps and marks, an orphan, another database on the storage, and copies of the database."""

import os
import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest

from frepo_core.domain.naming import new_blob_key
from frepo_core.services.upkeep.storage import (
    Ownership,
    SweepPlan,
    find_marks,
    sweep,
)

ORPHAN = new_blob_key("ab" * 32)


@pytest.fixture(scope="session")
def clean():
    def clean(services, *, by=None, **options):
        options = {"storage": "local", "grace": timedelta(hours=48), "most": 100} | options
        return sweep(services.database, services.backends, services.blobs, SweepPlan(**options), by=by)

    return clean


@pytest.fixture(scope="session")
def marks():
    def marks(services):
        return find_marks(services.backends.get("local"))

    return marks


@pytest.fixture(scope="session")
def own():
    def own(services):
        return Ownership(services.database, services.backends)

    return own


@pytest.fixture
def orphan(backend):
    """Store an old blob without a row; return a function that says whether it still exists."""
    backend.store(ORPHAN, BytesIO(b"orphan"), 6)
    path = backend.path(ORPHAN)
    os.utime(path, (time.time() - 3 * 86_400,) * 2)
    return path.exists


@pytest.fixture
def neighbour(open_services, ini, tmp_path):
    """Another service with a database of its own, which uses the same storage by mistake."""
    (tmp_path / "neighbour").mkdir()
    services = open_services(tmp_path / "neighbour", ini)
    yield services
    services.database.engine.dispose()


@pytest.fixture
def copied(open_services, ini, tmp_path):
    """Copy the SQLite database of a service; return a service with the copy."""
    made = []

    def copy(services):
        folder = tmp_path / f"copy-{len(made)}"
        folder.mkdir()
        copy = open_services(folder, ini)
        with (
            closing(sqlite3.connect(Path(services.database.engine.url.database))) as source,
            closing(sqlite3.connect(folder / "frepo.db")) as target,
        ):
            source.backup(target)
        made.append(copy)
        return copy

    yield copy
    for services in made:
        services.database.engine.dispose()
