"""Fills the text of a kind with the fields of one event."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from frepo_core.plugins import Event, readable_size, without_old_keys

from .backups import BROKEN, BROKEN_ARRIVAL, NEW_NORMAL, OVERTAKEN
from .kinds import OF_PLUGIN, OTHER, TEXTS
from .text import Level, Text

_LONGEST = 300

# What says more about a version that is not good.
_RANKS = {
    "version.suspicious": 1,
    BROKEN: 2,
    "version.quarantined": 3,
    BROKEN_ARRIVAL: 3,
    NEW_NORMAL: 3,
    "version.condemned": 3,
}
MOMENTS = ("due_at", "last_arrival", "overdue_since", "protected_until", "removed_at", "deleted_at", "since")
_EARLY = {"no_space": " early, because the storage is nearly full", "request": " early, on request"}

LEVELS: tuple[Level, ...] = ("failure", "warning", "success", "info")


def topics_of(event: Event) -> list[str]:
    """Return all topics that an event is about, the one that it is called by first; its kind comes last.

    A version in quarantine may be a leftover of its client, broken, and the third in a row. A leftover needs nobody;
    a broken one is never the new normal.
    """
    data = event.data
    found = {
        BROKEN: event.kind == "version.checked" and data.get("outcome") == "broken",
        OVERTAKEN: event.kind == "version.quarantined" and data.get("reason") == "overtaken",
        BROKEN_ARRIVAL: event.kind == "version.quarantined" and data.get("verdict") == "broken",
        NEW_NORMAL: event.kind == "version.quarantined" and bool(data.get("new_normal")),
    }
    return [*(topic for topic, applies in found.items() if applies), event.kind]


def topic_of(event: Event) -> str:
    """Return the event's kind, or another topic: for a check that found a version broken, and for quarantine."""
    return topics_of(event)[0]


def without_repetitions(events: Sequence[Event]) -> list[Event]:
    """Return the events without those that say less about a version than another one does.

    A broken upload is checked, and put into quarantine: the second event says both. So does the one about a version
    that is found broken later. With `checks.on_broken = mark`, the check says more than that the version is suspicious.
    """
    ranks = [_RANKS.get(topic_of(event), 0) for event in events]
    best: dict[tuple[str | None, int | None], int] = {}
    for event, rank in zip(events, ranks, strict=True):
        about = (event.collection_id, event.version_number)
        best[about] = max(rank, best.get(about, 0))
    return [
        event
        for event, rank in zip(events, ranks, strict=True)
        if rank in {0, best[event.collection_id, event.version_number]}
    ]


def text_of(topic: str) -> Text:
    """Return the text of a topic; kinds of later versions have a general one."""
    return TEXTS.get(topic, OTHER)


def _text_of(event: Event) -> Text:
    topic = topic_of(event)
    return OF_PLUGIN if topic not in TEXTS and event.data.get("sentence") else text_of(topic)


def is_problem(event: Event) -> bool:
    """Return whether the event requires action."""
    return text_of(topic_of(event)).level in {"failure", "warning"}


def count_of(topic: str, number: int) -> str:
    """Return the number of events of a topic in words: `3 versions added`."""
    return f"{number} {text_of(topic).counted[number != 1]}"


def most_serious_first(counts: Mapping[str, Any]) -> list[str]:
    """Return the topics, failures first."""
    return sorted(counts, key=lambda topic: (LEVELS.index(text_of(topic).level), topic))


def title_of(event: Event, collection_name: str = "") -> str:
    """Return the subject for one event."""
    return _text_of(event).title.format_map(fields_of(event, collection_name))


def describe(event: Event, collection_name: str = "") -> str:
    """Return a sentence that says what happened."""
    return _text_of(event).what.format_map(fields_of(event, collection_name))


def fields_of(event: Event, collection_name: str = "") -> Mapping[str, str]:
    """Return the fields of the texts. What an event does not have reads `unknown`."""
    data = event.data
    fields = {name: _short(value) for name, value in data.items() if isinstance(value, str | int | float)}
    fields |= {
        "kind": event.kind,
        "sender": event.actor.removeprefix("system:"),
        "collection": collection_label(event, collection_name),
        "version": _short(event.version_number),
        "file": _short(data.get("name") or event.file_id),
        "token": _short(event.token),
        "size": format_bytes(data.get("size")),
        "stored_size": format_bytes(data.get("stored_size")),
        "message": _short(data.get("message") or data.get("reason")),
        "in_a_row": _in_a_row(data.get("nights")),
        "times": _times(data.get("count")),
        "explanation": f" ({_short(data['message'])})" if data.get("message") else "",
        "changes": _changes(data.get("before"), data.get("after")),
        **{name: _moment(data.get(name)) for name in MOMENTS},
        "cause": f": {_short(data['cause'])}" if data.get("cause") else "",
        "restorable": f" It can be restored until {_moment(data['ends_at'])}." if data.get("ends_at") else "",
        "early": _EARLY.get(str(data.get("reason")), "") if data.get("early") else "",
        "used_by": _users(data.get("used_by"), data.get("used_by_count")),
    }
    return _OrUnknown(fields)


def collection_label(event: Event, name: str) -> str:
    """Return the name of the event's collection with its id, because names need not be unique."""
    if event.collection_id is None:
        return "unknown"
    return f"{_short(name)} ({event.collection_id})" if name else event.collection_id


def format_bytes(size: Any) -> str:
    """Format a number of bytes for people."""
    return readable_size(int(size)) if isinstance(size, int | float) else "unknown size"


class _OrUnknown(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "unknown"


def _short(value: Any) -> str:
    """Return a value in one line without its final full stop: texts of clients may contain line ends."""
    if value is None:
        return "unknown"
    text = " ".join(str(value).split()).removesuffix(".")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _moment(text: Any) -> str:
    """Return an ISO time without its seconds; a collection may have had no good arrival."""
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC" if text else "none"
    except (TypeError, ValueError):
        return _short(text)


def _times(count: Any) -> str:
    return f" ({count} times within a minute)" if isinstance(count, int) and count > 1 else ""


def _in_a_row(nights: Any) -> str:
    return f" It is night {nights} in a row." if isinstance(nights, int) and nights > 1 else ""


def _changes(before: Any, after: Any) -> str:
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return "its settings changed"
    before, after = without_old_keys(before), without_old_keys(after)
    changed = [name for name in after if before.get(name) != after[name]]
    return (
        ", ".join(f"{name} from {_edited(before.get(name))} to {_edited(after[name])}" for name in changed)
        or "no change"
    )


def _edited(value: Any) -> str:
    return "nothing" if value is None else _short(value)


def _users(users: Any, count: Any) -> str:
    """Say which versions and files need the bytes. An entry of `users` is a mapping or a text."""
    if not isinstance(users, list) or not users:
        return ""
    named = ", ".join(
        _short(user if isinstance(user, str) else " ".join(f"{k} {v}" for k, v in user.items())) for user in users[:5]
    )
    more = (count if isinstance(count, int) else len(users)) - min(len(users), 5)
    return f"Affected: {named}{f', and {more} more' if more > 0 else ''}."
