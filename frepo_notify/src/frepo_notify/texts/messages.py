"""Builds one message of one or many events."""

from collections import Counter
from collections.abc import Callable, Sequence

from frepo_core.plugins import Event, Message

from .sentences import LEVELS, count_of, describe, most_serious_first, text_of, title_of, topic_of
from .text import Level

# So that the message fits into the limits of chat services (Telegram: 4096 characters).
LISTED = 15
_LINE = 240


def make_message(events: Sequence[Event], *, sender: str, name_of: Callable[[Event], str]) -> Message:
    """Make one message of events in their order; `name_of` returns the name of an event's collection, or empty."""
    level = next(one for one in LEVELS if any(text_of(topic_of(event)).level == one for event in events))
    if len(events) == 1:
        title, body = title_of(events[0], name_of(events[0])), _describe_one(events[0], name_of(events[0]))
    else:
        title, body = _count(events), _describe_many(events, name_of)
    return Message(title=f"[{sender}] {title}", body=body, level=level)


def own_message(event: Event, *, sender: str) -> Message:
    """Return the message that a plug-in has sent by `context.service.notify`."""
    level: Level = next((level for level in LEVELS if level == event.data.get("level")), "info")
    title, body = event.data.get("title", ""), event.data.get("body", "")
    return Message(title=f"[{sender}] {title}", body=str(body), level=level)


def _describe_one(event: Event, name: str) -> str:
    who = f"By: {event.actor}" + (f" from {event.address}" if event.address else "")
    advice = [f"What to do: {text_of(topic_of(event)).advice}"] if text_of(topic_of(event)).advice else []
    return "\n".join(
        [describe(event, name), *advice, f"When: {event.at:%Y-%m-%d %H:%M:%S} UTC. {who}. Event {event.id}."]
    )


def _describe_many(events: Sequence[Event], name_of: Callable[[Event], str]) -> str:
    first, last = events[0].at, max(event.at for event in events)
    lines = [f"{_count(events)}, from {first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S} UTC:", ""]
    for event in events[:LISTED]:
        text = describe(event, name_of(event))
        lines.append(f"- {event.at:%H:%M:%S} {text if len(text) <= _LINE else text[:_LINE] + '...'}")
    if len(events) > LISTED:
        lines.append(f"- and {len(events) - LISTED} more: `frepo events` lists all of them.")
    advices = dict.fromkeys(text_of(topic_of(event)) for event in events if text_of(topic_of(event)).advice)
    if advices:
        lines += ["", "What to do:", *(f"- {text.counted[1]}: {text.advice}" for text in advices)]
    return "\n".join(lines)


def _count(events: Sequence[Event]) -> str:
    """Return `100 events: 97 backups refused, 3 jobs failed`, the most serious ones first."""
    counts = Counter(topic_of(event) for event in events)
    return f"{len(events)} events: " + ", ".join(count_of(topic, counts[topic]) for topic in most_serious_first(counts))
