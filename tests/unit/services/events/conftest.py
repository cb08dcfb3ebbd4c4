"""Fixtures: the events that are recorded."""

from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.services.composition.container import Services


@pytest.fixture
def events(services: Services) -> Callable[[], Sequence[Event]]:
    """Return the events that were recorded since the last call, in the order of their ids."""
    last = 0

    def events() -> Sequence[Event]:
        nonlocal last
        with services.database.reading() as session:
            rows = session.scalars(select(Event).where(Event.id > last).order_by(Event.id)).all()
        last = rows[-1].id if rows else last
        return rows

    return events


@pytest.fixture
def kinds(events: Callable[[], Sequence[Event]]) -> Callable[[], list[str]]:
    """Return the kinds of the events that were recorded since the last call."""
    return lambda: [event.kind for event in events()]
