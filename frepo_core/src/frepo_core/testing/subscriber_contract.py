"""What frepo expects of a subscriber, as tests that the subscriber's own tests inherit."""

import itertools
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from frepo_core.plugins import Event, PluginContext, Subscriber

from .upload_check_contract import make_context

AT = datetime(2024, 2, 27, 3, tzinfo=UTC)
_NUMBERS = itertools.count(7)


def make_event(kind: str = "version.added", **more: Any) -> Event:
    """Make an event about version 3 of a collection, with the next id and position. `more` are other fields."""
    number = next(_NUMBERS)
    values: dict[str, Any] = {
        "id": number,
        "position": number,
        "at": AT,
        "kind": kind,
        "actor": "0a1b2c3d4e5f",
        "address": "192.0.2.1",
        "collection_id": "8b0a2c7e-54a1-4b1e-9f43-3f4f5c1d2e3a",
        "version_number": 3,
        "data": {"name": "dump.sql", "size": 5, "sha256": "0" * 64, "type": "application/sql"},
    }
    return Event(**values | more)


class SubscriberContract:
    """Inherit it, and override the fixtures `subscriber` and `effects`; `context` if it uses its context."""

    @pytest.fixture
    def subscriber(self) -> Subscriber:
        """Return the subscriber."""
        raise NotImplementedError("Override the fixture `subscriber` of the contract of subscribers")

    @pytest.fixture
    def effects(self) -> Callable[[], Any]:
        """Return a function that returns what the subscriber has done so far, to be compared."""
        raise NotImplementedError("Override the fixture `effects` of the contract of subscribers")

    @pytest.fixture
    def context(self) -> PluginContext:
        """Return the context that the subscriber gets."""
        return make_context()

    @pytest.fixture
    def event(self, subscriber: Subscriber) -> Event:
        """Return an event that the subscriber handles."""
        kind = next((kind for kind in subscriber.kinds if "*" not in kind), "version.added")
        return make_event(kind)

    def test_it_wants_the_event(self, subscriber: Subscriber, event: Event) -> None:
        """The kinds match the event of these tests."""
        assert subscriber.wants(event.kind)

    def test_an_event_has_an_effect(
        self, subscriber: Subscriber, event: Event, context: PluginContext, effects: Callable[[], Any]
    ) -> None:
        """Handling an event does something."""
        before = effects()

        subscriber.handle(event, context)

        assert before != effects()

    def test_a_repetition_changes_nothing(
        self, subscriber: Subscriber, event: Event, context: PluginContext, effects: Callable[[], Any]
    ) -> None:
        """After a crash, the same event is handled again: recognize it by its id."""
        subscriber.handle(event, context)
        once = effects()

        subscriber.handle(event, context)

        assert once == effects()

    def test_an_event_about_nothing_is_handled(
        self, subscriber: Subscriber, event: Event, context: PluginContext
    ) -> None:
        """Every field that may be None may be None, and the data may be empty."""
        bare = make_event(event.kind, address=None, collection_id=None, version_number=None, file_id=None, data={})

        subscriber.handle(bare, context)
