"""A difference that was copied as it is counts as a second copy only while the storage has its base."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.features.second_copies import copier
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.upkeep.storage import verify_copies
from support.encodings.nights import nights
from support.encodings.stored import sha256


@pytest.fixture
def contents():
    return list(nights(2, 2000))


@pytest.fixture
def files(add, blobs, contents):
    """The older content is the difference to the newer one in the first storage; neither has a copy."""
    files = [add(content) for content in contents]
    assert blobs.encode(*contents)
    return files


@pytest.fixture
def lose_base(services, contents, monkeypatch):
    """Let the base be found damaged in the second storage while the difference to it is copied there."""
    hit = copier.hit
    base = (StoredObject.storage == "second", StoredObject.digest == sha256(contents[1]))

    def lose(point):
        hit(point)
        if point == "copy_read_back":
            damaged = {"state": "damaged", "next_try": utc_now() + timedelta(hours=1)}
            services.database.execute(
                update(StoredObject).where(*base, StoredObject.state == "present").values(damaged)
            )

    monkeypatch.setattr(copier, "hit", lose)


@pytest.fixture
def older_copy(second, contents):
    return lambda: next(row for row in second.current() if row.digest == sha256(contents[0]))


def test_it_is_no_copy_after_its_base_was_damaged_meanwhile(files, mirror, second, lose_base, older_copy, services):
    mirror()

    assert "present" != older_copy().state
    assert [2] == [figures.behind for figures in services.feature(SecondCopyServices).reports.read()]


def test_it_is_made_again_with_its_base(
    files, contents, mirror, second, lose_base, older_copy, services, read, monkeypatch
):
    mirror()
    monkeypatch.undo()

    for _ in range(3):
        second.make_due()
        mirror()

    assert {"present"} == {row.state for row in second.current()}
    assert [] == verify_copies(services.database, services.backends, services.copies.storages()).damaged
    assert contents == [read(file) for file in files]
