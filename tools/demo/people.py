"""The tokens of the demonstration: who sends backups, who reads them, and when each was used last."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from frepo_core.db import simulated_time
from frepo_core.domain.identity import Identity
from frepo_core.domain.roles import Role
from frepo_core.services.access.tokens import NewToken

from .catalogue import DAY

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

SENDS = (Role.UPLOAD_VERSIONS, Role.LIST_VERSIONS)


@dataclass(frozen=True, kw_only=True)
class Holder:
    """A token that somebody holds. It was made `age` ago and expires `expires_in` from now, None: never."""

    name: str
    roles: tuple[Role, ...]
    age: timedelta = 366 * DAY
    expires_in: timedelta | None = None
    used: timedelta | None = None
    tags: tuple[str, ...] = ()
    ip_addresses: tuple[str, ...] = ()
    user_agents: tuple[str, ...] = ()


OPERATOR = "operations"
WEB_SITE = "website-upload"
_OTHERS = (
    Holder(name=OPERATOR, roles=(Role.ADMINISTRATOR,), age=400 * DAY, used=timedelta(minutes=9)),
    Holder(name="night shift", roles=(Role.ADMINISTRATOR,), age=390 * DAY, used=timedelta(hours=8)),
    Holder(
        name=WEB_SITE,
        roles=(Role.UPLOAD_IMAGES, Role.UPLOAD_DOCUMENTS, Role.VIEW_LISTING, Role.UPLOAD_TOKEN_TAGS),
        used=timedelta(hours=3),
        tags=("web", "press"),
    ),
    Holder(
        name="restore-test",
        roles=(Role.VIEW_ALL_COLLECTIONS, Role.LIST_COLLECTIONS, Role.LIST_VERSIONS),
        used=3 * DAY,
        ip_addresses=("10.20.9.0/24",),
    ),
    Holder(name="monitoring", roles=(Role.VIEW_METRICS, Role.VIEW_JOBS, Role.VIEW_EVENTS), used=timedelta(seconds=40)),
    Holder(name="auditor", roles=(Role.VIEW_EVENTS, Role.LIST_TOKENS), age=20 * DAY, expires_in=6 * DAY, used=9 * DAY),
    Holder(
        name="press agency",
        roles=(Role.UPLOAD_IMAGES, Role.VIEW_LISTING),
        age=60 * DAY,
        expires_in=30 * DAY,
        tags=("press",),
        user_agents=("Mozilla/*",),
    ),
    Holder(name="old shop cron", roles=SENDS, used=41 * DAY),
)


class People:
    """Makes the tokens, and remembers them by name."""

    def __init__(self, services: "CoreServices", now: datetime, random: Random) -> None:
        self._services = services
        self._now = now
        self._random = random
        self._identities: dict[str, Identity] = {}

    def steps(self, senders: Iterable[str]) -> Iterator[tuple[datetime, Callable[[], object]]]:
        """Yield a step for each sender and each person that makes the token, with its time."""
        for holder in [*_OTHERS, *(Holder(name=name, roles=SENDS) for name in dict.fromkeys(senders))]:
            yield self._now - holder.age, partial(self._make, holder)

    def find(self, name: str) -> Identity:
        """Return the identity of a token by its name, with the address that it is used from."""
        return self._identities[name]

    def note_use(self, name: str) -> Identity:
        """Note that a token is used now, and return its identity. `store_uses` writes it."""
        identity = self.find(name)
        self._services.token_uses.note(identity.token, identity.address)
        return identity

    def store_uses(self) -> None:
        """Write when and from where each token was used last."""
        for holder in _OTHERS:
            if holder.used is not None:
                with simulated_time(self._now - holder.used):
                    self.note_use(holder.name)
        self._services.token_uses.flush()

    def rotate(self, name: str, overlap: timedelta) -> None:
        """Replace a token by a new one; both are valid meanwhile."""
        self._services.token_changes.rotate(self.find(name).fingerprint, overlap, by=self.find(OPERATOR))

    def _make(self, holder: Holder) -> None:
        by = self._identities.get(OPERATOR)
        new = NewToken(
            name=holder.name,
            roles=holder.roles,
            tags=holder.tags,
            ip_addresses=holder.ip_addresses,
            user_agents=holder.user_agents,
            expires=None if holder.expires_in else "never",
            expires_at=self._now + holder.expires_in if holder.expires_in else None,
        )
        issued = self._services.tokens.generate(new, by=by)
        identity = self._services.tokens.look_up(issued.id)
        address = f"10.20.{self._random.randrange(1, 30)}.{self._random.randrange(2, 250)}"
        self._identities[holder.name] = replace(identity, address=address)
