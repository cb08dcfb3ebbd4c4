"""Settings of the tests of single modules."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from frepo_core.db.models import Collection
from frepo_core.services.composition.container import Services


@pytest.fixture(scope="module", autouse=True)
def no_sync() -> Iterator[None]:
    """Skip fsync: that bytes survive a power cut is the affair of tests/live/disks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def archive_settings(tmp_path: Path) -> dict[str, str]:
    """Settings of a second local storage, named `archive`."""
    directory = str(tmp_path / "archive")
    return {"storages": "archive", "storage.archive.adapter": "local", "storage.archive.directory": directory}


@pytest.fixture
def set_row(services: Services) -> Callable[..., None]:
    """Change a collection's row behind the service."""
    return lambda collection, **values: services.database.write(
        lambda session: session.execute(update(Collection).where(Collection.id == collection).values(**values))
    )
