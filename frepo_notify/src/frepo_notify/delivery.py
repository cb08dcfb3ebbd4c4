"""Delivers events to one target: each to a webhook, or grouped into messages for people."""

import threading
from collections.abc import Callable, Mapping

from frepo_core.plugins import Event, PluginContext

from .apprise_target import send_text
from .settings import NotifySettings
from .targets import Target
from .texts import Message, make_message
from .webhook import event_payload, send_webhook

# How many events one message may summarize.
MOST = 5000


class WebhookDelivery:
    """Posts each event to a webhook, in their order. The id of the message is the event's, so a receiver sees repeats."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def handle(self, event: Event, context: PluginContext) -> None:
        """Send one event. Raises `NotDelivered`."""
        settings: NotifySettings = context.settings
        name = name_of(context)(event)
        if self._target.takes(event, name):
            payload = event_payload(event, sender=settings.sender_name, collection_name=name)
            send_webhook(self._target, str(event.id), payload, settings=settings, service=context.service)


class TextDelivery:
    """Sends an event, and all that have happened since, in one message.

    The service calls it for each of them; what was sent ahead is skipped then. That is kept in memory only: after a
    crash, events may be sent again, but none is lost.
    """

    def __init__(self, target: Target, send: Callable[[Target, Message], None] = send_text) -> None:
        self._target = target
        self._send = send
        self._sent_ahead: set[int] = set()
        self._lock = threading.Lock()

    def handle(self, event: Event, context: PluginContext) -> None:
        """Send the event and those after it that the target gets. Raises `NotDelivered`."""
        with self._lock:
            if event.id in self._sent_ahead:
                self._sent_ahead.discard(event.id)
                return
            find_name = name_of(context)
            if not self._target.takes(event, find_name(event)):
                return
            later = context.service.events(after=event.position, kinds=self._target.event_kinds, limit=MOST - 1)
            group = [event, *(one for one in later if self._target.takes(one, find_name(one)))]
            sender = context.settings.sender_name
            self._send(self._target, make_message(group, sender=sender, name_of=find_name))
            self._sent_ahead.update(one.id for one in group[1:])


def name_of(context: PluginContext) -> Callable[[Event], str]:
    """Return a function that returns the name of an event's collection, or an empty text. It asks once for each."""
    names: dict[str, str] = {}

    def find(event: Event) -> str:
        if event.collection_id is None:
            return ""
        if event.collection_id not in names:
            found = context.service.collection(event.collection_id)
            names[event.collection_id] = found.name if found else _name_in_data(event)
        return names[event.collection_id]

    return find


def _name_in_data(event: Event) -> str:
    """Return the name that a collection had before it was deleted."""
    before = event.data.get("before")
    return str(before.get("filename", "")) if isinstance(before, Mapping) else ""
