"""Nights with the job `compact`: every version can be read, and nearly all are differences."""

import pytest

from support.scale import IS_BIG

KEEP = {"strategy": "keep", "strategy_options": {"last": 1, "daily": 5, "weekly": 3, "monthly": 2}}
NIGHTS = 30 if IS_BIG else 9
pytestmark = pytest.mark.databases


@pytest.mark.costly
@pytest.mark.parametrize("rules", [{"count": 6}, KEEP | {"count": 60}], ids=["delete the oldest", "keep"])
def test_after_the_nights_all_can_be_read(history, rules):
    collection = history.make(**rules)

    for _ in range(NIGHTS):
        history.night(collection)
    history.check()

    encodings = history.encodings(collection)
    assert "raw" == encodings[-1]
    assert encodings.count("delta") >= len(encodings) - 3
    stored = sum(row.object_size for row in history.rows(collection).values())
    assert stored * 3 < sum(row.size for row in history.rows(collection).values())
