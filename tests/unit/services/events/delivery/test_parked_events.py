"""An event that fails for a day is parked, and delivered again on request."""

from datetime import timedelta

import pytest

from frepo_core.services.events.delivery import PAUSES, TRIES
from frepo_core.services.events.parked_events import list_parked, request_retry


@pytest.mark.databases
def test_twelve_tries_within_about_a_day_then_the_event_is_parked_and_later_ones_go_on(
    services, happen, deliver, handler, clock
):
    handler.error = RuntimeError("no answer")
    happen("a")
    start = clock.time
    times = []
    for _ in range(TRIES):
        deliver()
        times.append(clock.time - start)
        clock.wait(PAUSES[min(len(times), len(PAUSES)) - 1])
    handler.error = None
    happen("b")
    deliver()

    assert (12, 13) == (TRIES, handler.tried)
    assert timedelta(hours=20) < times[-1] <= timedelta(hours=24)
    assert ["b"] == handler.handled
    (parked,) = list_parked(services.database)
    assert ("log", "file.deleted", 12, "RuntimeError: no answer") == (
        parked.subscriber,
        parked.kind,
        parked.tries,
        parked.error,
    )


@pytest.fixture
def parked(services, happen, deliver, handler, clock):
    handler.error = RuntimeError("no answer")
    happen("a")
    for pause in (*PAUSES, 60):
        deliver()
        clock.wait(pause)
    (parked,) = list_parked(services.database)
    return parked


@pytest.mark.databases
def test_a_parked_event_is_delivered_again_on_request_alone(services, deliver, handler, clock, parked):
    handler.error = None
    clock.wait(86400)
    deliver()
    assert [] == handler.handled

    assert 1 == request_retry(services.database, [parked.id])
    clock.wait(10)
    deliver()

    assert ["a"] == handler.handled
    assert [] == list_parked(services.database)


def test_a_parked_event_that_fails_again_stays_parked(services, deliver, handler, clock, parked):
    handler.error = RuntimeError("still not")
    request_retry(services.database, [])
    for _ in range(5):
        clock.wait(10)
        deliver()

    (still,) = list_parked(services.database)
    assert (13, 13, "RuntimeError: still not", None) == (handler.tried, still.tries, still.error, still.retry_at)
