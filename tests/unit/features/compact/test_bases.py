"""Which versions become the base of others: none that is worse, and none that is unlike."""

import random
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select, update

from frepo_core.db.models import ContentSketch, Version
from frepo_core.features.compact.encodings.format import has_several_windows, read_head
from support.encodings.nights import interleaved, nights


@pytest.mark.costly
def test_a_foreign_version_spoils_none_of_its_neighbours(history):
    collection = history.make()
    for number in range(1, 9):
        history.push(collection, random.randbytes(150_000) if number == 4 else None)
        history.job()
    history.job()

    assert ["delta"] * 3 + ["raw"] + ["delta"] * 3 + ["raw"] == history.encodings(collection)
    history.check()


@pytest.mark.costly
@pytest.mark.parametrize("change", [{"verdict": "broken"}, {"quarantined_at": datetime(2026, 1, 4, tzinfo=UTC)}])
def test_a_base_that_was_condemned_is_replaced(history, services, change):
    collection = history.make()
    for _ in range(4):
        history.push(collection)
    history.job()
    condemned = history.rows(collection)[2]
    assert condemned.digest == history.rows(collection)[1].base_digest
    is_second = (Version.collection_id == collection, Version.number == 2)
    services.database.execute(update(Version).where(*is_second).values(**change))

    history.job()

    rows = history.rows(collection)
    assert (rows[4].digest, "delta") == (rows[1].base_digest, rows[2].encoding)
    history.check()


@pytest.mark.costly
def test_a_cut_version_costs_the_one_before_it_nothing(history):
    collection = history.make()
    for number in range(1, 7):
        dump = history.dump()
        history.push(collection, dump[:60_000] if number == 3 else dump)
        history.job()

    rows = history.rows(collection)
    assert rows[3].digest not in {row.base_digest for row in rows.values()}
    assert ["delta"] * 5 + ["raw"] == history.encodings(collection)
    history.check()


@pytest.mark.costly
def test_two_databases_that_alternate_are_compacted_each_for_itself(history, services):
    collection, other = history.make(), nights(20, 1500, seed=7)
    for number in range(1, 9):
        history.push(collection, next(other) if number % 2 else None)
        history.job()

    rows = history.rows(collection)
    numbers = {row.digest: number for number, row in rows.items()}
    assert ["delta"] * 6 == history.encodings(collection)[:6]
    assert all(number % 2 == numbers[row.base_digest] % 2 for number, row in rows.items() if row.base_digest)
    with services.database.reading() as session:
        assert 8 == session.scalar(select(func.count()).select_from(ContentSketch))
    history.check()


@pytest.mark.costly
@pytest.mark.parametrize("form", [1, 2])
def test_several_windows_are_used_if_the_setting_allows_that(history, services, form):
    object.__setattr__(services.settings, "compact_format", form)
    object.__setattr__(services.settings, "compact_depth", 1)
    collection, tables = history.make(), [list(nights(3, 15_000, seed=seed)) for seed in range(4)]
    for night in range(3):
        history.push(collection, interleaved([table[night] for table in tables], seed=night))
        history.job()

    rows = history.rows(collection)
    with services.backends.get("local").open(rows[1].key) as stored:
        assert form == read_head(stored, rows[1].digest).format
    assert ["delta", "zstd", "raw"] == history.encodings(collection)
    history.check()


def has_windows(services, row):
    """Return whether a segment of an object has several windows."""
    with services.backends.get("local").open(row.key) as stored:
        return has_several_windows(stored, row.digest)


@pytest.mark.costly
def test_what_has_several_windows_gets_one_before_its_base_becomes_a_difference(history, services):
    """Through a difference, its base would be decoded again for each window."""
    object.__setattr__(services.settings, "compact_format", 2)
    object.__setattr__(services.settings, "compact_depth", 2)
    collection, tables = history.make(), [list(nights(5, 15_000, seed=seed)) for seed in range(4)]
    for night in range(5):
        order = (1, 3, 0, 2) if night % 2 else range(4)
        history.push(collection, b"".join(tables[number][night] for number in order))
        history.job()
    before = history.rows(collection)
    assert [4] == [number for number, row in before.items() if row.digest == before[3].base_digest]
    assert has_windows(services, before[3])
    assert before[4].base_digest is None

    history.delete(collection, "v1", "v2")
    history.job("trash", days=3)
    report = history.job(days=3, hours=8)

    rows = history.rows(collection)
    assert (rows[4].digest, rows[5].digest) == (rows[3].base_digest, rows[4].base_digest)
    assert not has_windows(services, rows[3])
    assert 2 == report["encoded"]
    assert 0 == history.job(days=4, hours=8)["encoded"]
    history.check()
