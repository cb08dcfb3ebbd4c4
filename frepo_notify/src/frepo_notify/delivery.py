"""Delivers events to one target: each to a webhook, or grouped into messages for people."""

import threading
from collections.abc import Callable, Mapping

from frepo_core.plugins import CollectionInfo, Event, PluginContext

from .settings import NotifySettings
from .targets import Target
from .text_sending import send_message
from .texts import make_message, own_message, without_repetitions
from .webhook import event_payload, send_webhook

# How many events one message may summarize.
MOST = 5000
# A message of a plug-in: it is sent as it is, and in no group.
OWN = "message.sent"


class WebhookDelivery:
    """Posts events to a webhook in their order. A message has the event's id, so receivers recognize repetitions."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def handle(self, event: Event, context: PluginContext) -> None:
        """Send one event. Raises `NotDelivered`."""
        settings: NotifySettings = context.settings
        collection = collection_of(context)(event)
        if self._target.takes(event, collection.name, collection.labels):
            payload = event_payload(event, sender=settings.sender_name, collection_name=collection.name)
            send_webhook(self._target, str(event.id), payload, settings=settings, service=context.service)


class TextDelivery:
    """Sends an event, and all that have happened since, in one message.

    The service calls it for each of them; what was sent ahead is skipped then. That is kept in memory only: after a
    crash, events may be sent again, but none is lost.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._sent_ahead: set[int] = set()
        self._lock = threading.Lock()

    def handle(self, event: Event, context: PluginContext) -> None:
        """Send the event and those after it that the target gets. Raises `NotDelivered`."""
        with self._lock:
            if event.id in self._sent_ahead:
                self._sent_ahead.discard(event.id)
                return
            find = collection_of(context)
            if not self._takes(event, find(event)):
                return
            sender = context.settings.sender_name
            if event.kind == OWN:
                send_message(self._target, own_message(event, sender=sender), context.service)
                return
            later = context.service.events(after=event.position, kinds=self._target.event_kinds, limit=MOST - 1)
            group = [event, *(one for one in later if one.kind != OWN and self._takes(one, find(one)))]
            message = make_message(without_repetitions(group), sender=sender, name_of=lambda one: find(one).name)
            send_message(self._target, message, context.service)
            self._sent_ahead.update(one.id for one in group[1:])

    def _takes(self, event: Event, collection: CollectionInfo) -> bool:
        return self._target.takes(event, collection.name, collection.labels)


def collection_of(context: PluginContext) -> Callable[[Event], CollectionInfo]:
    """Return a function that returns the collection of an event. It asks the service once for each.

    Of a deleted collection it returns what the event knows; of an event without a collection, one without a name.
    """
    known: dict[str, CollectionInfo] = {}

    def find(event: Event) -> CollectionInfo:
        if event.collection_id is None:
            return CollectionInfo(id="", name="")
        if event.collection_id not in known:
            found = context.service.collection(event.collection_id)
            known[event.collection_id] = found or _in_data(event, event.collection_id)
        return known[event.collection_id]

    return find


def name_of(context: PluginContext) -> Callable[[Event], str]:
    """Return a function that returns the name of an event's collection, or an empty text."""
    find = collection_of(context)
    return lambda event: find(event).name


def _in_data(event: Event, collection_id: str) -> CollectionInfo:
    """Return the name and the labels that a collection had before it was deleted."""
    before = event.data.get("before")
    values = before if isinstance(before, Mapping) else {}
    labels = values.get("labels")
    return CollectionInfo(
        id=collection_id,
        name=str(values.get("filename", "")),
        labels=tuple(map(str, labels)) if isinstance(labels, list) else (),
    )
