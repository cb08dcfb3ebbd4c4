"""What reports say about compact storage after the second storage has become the first one."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from frepo_core.db.models import StoredObject
from frepo_core.db.types import simulated_time
from frepo_core.errors import CompactLateError
from frepo_core.features.compact.encoder.choice import Choice
from frepo_core.features.compact.encoder_process import EncoderProcess
from frepo_core.features.compact.feature import CompactServices
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.reports.sizes import measure_sizes

GROUP = {"compact_group": "hosts"}


@pytest.fixture
def ini(ini, tmp_path):
    second = {"storage.second.adapter": "local", "storage.second.directory": str(tmp_path / "second")}
    return ini | second | {"storages": "second", "mirror": "second", "mirror.rate": "0", "compact.newest": "zstd"}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Encode in this process, which is faster."""
    monkeypatch.setattr(EncoderProcess, "encode", lambda self, task, keep_going: Choice().choose(task, lambda: None))


def nights(history, *collections, count):
    for _ in range(count):
        for name in collections:
            history.push(name, hours=1)
        history.job(hours=9)
        history.time += timedelta(days=1)


@pytest.fixture
def promoted(history):
    """Two collections of a group whose nights came before and after a promotion. The second copies are not made yet."""
    collections = history.make(**GROUP), history.make(**GROUP)
    nights(history, *collections, count=2)
    history.job("mirror", hours=9)
    promotions = history.services.feature(SecondCopyServices).promotions
    promotions.promote(promotions.plan("second"))
    nights(history, *collections, count=2)
    return collections


def first_copies(history):
    with history.services.database.reading() as session:
        current = select(StoredObject).where(StoredObject.storage == "second", StoredObject.slot == 1)
        return session.scalars(current.where(StoredObject.key.is_not(None))).all()


def test_the_figures_count_the_objects_of_the_new_first_storage(history, promoted):
    rows = first_copies(history)
    encoded = [row for row in rows if row.encoding != "raw"]

    figures = history.services.feature(CompactServices).spaces.read().figures

    assert 8 == len(rows)
    assert (len(encoded), sum(row.size - row.object_size for row in encoded)) == (figures.encoded, figures.saved)


def test_the_space_of_a_collection_is_that_in_the_new_first_storage(history, services):
    collection = history.make()
    nights(history, collection, count=2)
    history.job("mirror", hours=9)
    promotions = services.feature(SecondCopyServices).promotions
    promotions.promote(promotions.plan("second"))
    nights(history, collection, count=2)
    rows, spaces = first_copies(history), services.feature(CompactServices).spaces

    space = spaces.read_collection(collection)

    stored = sum(row.object_size for row in rows)
    assert (4, 4, stored) == (space.contents, space.encoded, space.stored)
    assert {collection: stored} == spaces.read_stored([collection])


def test_the_stored_bytes_are_those_in_the_new_first_storage(history, promoted):
    with history.services.database.reading() as session:
        rows = session.scalars(select(StoredObject).where(StoredObject.storage == "second")).all()
        sizes = measure_sizes(session, history.services.backends, history.time)

    there = [row for row in rows if row.key and row.state not in {"doomed", "gone"}]
    assert (8, sum(row.object_size for row in there)) == (sizes.blobs, sizes.stored)


def test_the_health_knows_the_bases_in_the_new_first_storage(history):
    """The object of a version is the former second copy, and only its own base is of the other collection."""
    one, two = history.make(**GROUP), history.make(**GROUP)
    nights(history, one, two, count=2)
    history.job("mirror", hours=9)
    promotions = history.services.feature(SecondCopyServices).promotions
    promotions.promote(promotions.plan("second"))
    for name in (one, two):
        history.push(name, hours=1)
    history.job("mirror", hours=8)
    history.job(hours=9)
    digests = {name: [row.digest for row in history.rows(name).values()] for name in (one, two)}
    bases = {row.digest: row.base_digest for row in first_copies(history)}
    newest = {name: digests[name][-1] for name in (one, two)}
    [(name, other, number)] = [
        (name, other, number)
        for name, other in ((one, two), (two, one))
        for number, digest in enumerate(digests[name], 1)
        if bases[digest] == newest[other]
    ]
    history.delete(name, *(f"v{each}" for each in (1, 2, 3) if each != number))
    with simulated_time(history.time):
        history.services.collections.delete(other, by=history.by, with_versions=True)

    with simulated_time(history.time + timedelta(days=8)), pytest.raises(CompactLateError, match="7 days ago"):
        history.services.feature(CompactServices).spaces.check()
