"""The simulated time, with which a service is filled with a history."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.db import simulated_time, utc_now

THEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.mark.databases
def test_it_applies_to_the_clock_of_the_database_too(services):
    with simulated_time(THEN):
        assert THEN == utc_now() == services.database.now()

    assert services.database.now() > THEN + timedelta(days=1)


def test_it_ends_with_an_exception():
    with pytest.raises(ZeroDivisionError), simulated_time(THEN):
        _ = 1 / 0

    assert utc_now() != THEN


def test_other_threads_keep_the_real_time():
    seen = []
    with simulated_time(THEN):
        thread = threading.Thread(target=lambda: seen.append(utc_now()))
        thread.start()
        thread.join()

    assert seen[0] > THEN + timedelta(days=1)
