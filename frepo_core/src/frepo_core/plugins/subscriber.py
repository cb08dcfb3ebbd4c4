"""The subscriber contract: is told what happened, after it was committed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from .context import PluginContext
from .events.event import Event
from .settings import require_callable

# Events keep their keys for ever, so each value that was renamed is there twice.
OLD_KEYS: Mapping[str, str] = {
    "filename": "name",
    "strategyOptions": "strategy_options",
    "maxBackupsCount": "versions",
    "maxOneVersionSize": "version_size",
    "maxCollectionSize": "total_size",
    "minRetention": "min_retention",
    "minVersionSize": "min_version_size",
    "maxShrinkPercent": "max_shrink_percent",
    "onSuspicious": "on_suspicious",
    "expectedEvery": "expected_every",
    "requestedName": "requested_name",
    "expires": "expires_at",
    "types": "mime_types",
    "maxAllowedFileSize": "max_file_size",
    "addresses": "ip_addresses",
    "userAgentsCount": "user_agents_count",
}

# Seconds.
MAX_DELAY = 3600

EventHandler: TypeAlias = Callable[[Event, PluginContext], None]


@dataclass(frozen=True, kw_only=True)
class Subscriber:
    """A function that is called for each event of some kinds.

    - `name`: unique among all subscribers. The service stores under it which events were handled; keep it.
    - `kinds`: kinds, or patterns such as `version.*`. `*` is all kinds.
    - `handle`: called by the worker, in a thread of this subscriber, in the order of commits, at least once for each
      event. It must tolerate a repetition. After an exception, it is called again later with the same event.
    - `delay`: seconds that an event is at least old when it is handled, for a subscriber that groups events.
    """

    name: str
    kinds: Sequence[str]
    handle: EventHandler
    delay: float = 0.0

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError` or `ValueError`."""
        require_callable("handle", self.handle)
        if isinstance(self.kinds, str) or not all(isinstance(kind, str) for kind in self.kinds):
            raise TypeError(f"kinds is {self.kinds!r}; write a list of texts, such as ['version.*']")
        if not self.kinds:
            raise ValueError("kinds is empty, so the subscriber would never be called; '*' is every kind")
        if not isinstance(self.delay, int | float) or not 0 <= self.delay <= MAX_DELAY:
            raise ValueError(f"delay is {self.delay!r}; write seconds from 0 to {MAX_DELAY}")

    def wants(self, kind: str) -> bool:
        """Whether one of the kinds or patterns matches this kind."""
        return any(fnmatchcase(kind, pattern) for pattern in self.kinds)


def without_old_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values, which may be `before` or `after` of an event, each under one name: its newest."""
    return {name: value for name, value in values.items() if OLD_KEYS.get(name) not in values}
