"""Events, as plug-ins get them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened and was committed.

    - `id` identifies the event; `position` is its place in the order of commits. Events are delivered in this order.
    - `at`: the time in UTC (aware). `kind`: such as `version.added`.
    - `actor`: who did it: fingerprint and name of a token, or `system:<job>`. `address`: of the client, None if there
      was none.
    - `collection_id`, `version_number`, `file_id` and `token` (a fingerprint): what it is about, None where it is not
      about one.
    - `data`: more, depending on the kind. It never contains a secret.
    """

    id: int
    position: int
    at: datetime
    kind: str
    actor: str
    address: str | None = None
    collection_id: str | None = None
    version_number: int | None = None
    file_id: str | None = None
    token: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EventCount:
    """How many events of one kind there were, and how many different collections they were about."""

    events: int
    collections: int
