"""Which versions become the base of others: none that is worse, and none that is unlike."""

import random
from datetime import UTC, datetime

import pytest
from sqlalchemy import update

from frepo_core.db.models import Version


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
