from datetime import timedelta

import pytest
from sqlalchemy import select

from frepo_core.db.models import Sample
from support.fixtures.upkeep import NOON

pytestmark = pytest.mark.databases


@pytest.fixture
def samples(services):
    """Return (collection, versions, size, blobs) of all samples, in the order of time."""

    def samples():
        with services.database.reading() as session:
            rows = session.scalars(select(Sample).order_by(Sample.at, Sample.collection_id)).all()
        return [(row.collection_id, row.versions, row.size, row.blobs) for row in rows]

    return samples


def test_there_is_a_row_for_each_collection_and_one_for_the_service(run, samples, make_collection, push, add):
    first, second, empty = make_collection(), make_collection(), make_collection()
    push(first, b"12345")
    push(first, b"12345")
    push(second, b"12345")
    push(second, b"123")
    add(b"a file of its own")

    summary = run("samples", NOON)

    expected = {(None, 4, 25, 3), (first, 2, 10, 1), (second, 2, 8, 2), (empty, 0, 0, 0)}
    assert expected == set(samples())
    assert {"collections": 3, "versions": 4, "size": 25, "blobs": 3} == summary


def test_a_second_run_on_a_day_replaces_the_rows_of_that_day(run, samples, make_collection, push):
    collection = make_collection()
    run("samples", NOON - timedelta(days=1))
    run("samples", NOON)
    push(collection, b"12345")

    run("samples", NOON + timedelta(hours=11, minutes=59))

    assert [0, 1] == [versions for found, versions, *_ in samples() if found == collection]


def test_a_service_without_data_has_a_row(run, samples):
    run("samples", NOON)

    assert [(None, 0, 0, 0)] == samples()


def test_samples_are_kept_for_800_days(run, samples):
    for days in (801, 799, 0):
        run("samples", NOON - timedelta(days=days))

    assert 2 == len(samples())
