"""How plug-ins set up what clients use: collections, tokens, and which token may use which collection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from frepo_core.domain.identity import Identity

from ..checks.upload_check import CollectionInfo
from ..guards import Guards


@dataclass(frozen=True, kw_only=True)
class CollectionValues:
    """Values of a collection, with the names and the rules of `/api/v1`. None keeps a value, or takes its default.

    - `name`: the file name of its versions. A new collection needs one.
    - `labels`, `strategy_options`: replace all that there are.
    - `max_versions`, `max_version_size`, `max_size`: its limits, in bytes. 0 is no limit, which needs a role.
    - `guards`: only those that change, as `Guards`, or by their names.
    - `locked`: for how long nobody can remove a version. It can be extended, never shortened, and needs a role.
    - `expected_every`: a duration, or cron with a time zone; `grace`: a duration. An empty text resets them.
    - `storage`, `mirror`: where its versions and their second copies are. An empty text resets them.
    - `compact_group`: its versions may be stored as the difference to those of others in this group. Empty: no group.
    - `trash_keep`: how long what leaves it stays in the trash, from 1 hour to as long as in the service, as `1d`. It
      needs the roles to delete and to restore versions. An empty text resets it.
    """

    name: str | None = None
    description: str | None = None
    labels: Sequence[str] | None = None
    strategy: str | None = None
    strategy_options: Mapping[str, Any] | None = None
    max_versions: int | None = None
    max_version_size: int | None = None
    max_size: int | None = None
    guards: Guards | Mapping[str, Any] = field(default_factory=dict)
    locked: timedelta | None = None
    expected_every: str | None = None
    grace: str | None = None
    storage: str | None = None
    mirror: str | None = None
    compact_group: str | None = None
    trash_keep: str | None = None


@dataclass(frozen=True, kw_only=True)
class TokenValues:
    """Values of a new token, with the rules of `/api/v1`. Empty restrictions, and 0 bytes, restrict nothing.

    `expires_at` is aware, or `never`; by default, the token has the lifetime of the service's settings. `tags` are for
    plain files. `*` in a User-Agent matches any text.
    """

    roles: Sequence[str]
    name: str | None = None
    expires_at: datetime | Literal["never"] | None = None
    tags: Sequence[str] = ()
    mime_types: Sequence[str] = ()
    max_file_size: int = 0
    user_agents: Sequence[str] = ()
    ip_addresses: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class IssuedToken:
    """A new token. `secret` is what clients send: it is never shown again. Logs and lists use the fingerprint."""

    secret: str = field(repr=False)
    fingerprint: str
    expires_at: datetime | None


class AdministeringService(Protocol):
    """What plug-ins can set up in the name of a client.

    `by` is its token, which needs the permission of the endpoint of `/api/v1`, and is named in the events. There is no
    default: a plug-in has no rights of its own. All raises `ReadOnlyError` in read-only mode, `AccessDeniedError`, also
    if the token was revoked since, and `FieldsError`, which names all wrong values. Nothing has changed then.
    """

    def create_collection(self, values: CollectionValues, *, by: Identity) -> CollectionInfo:
        """Create a collection that lists this token, as `POST /api/v1/collections` does, with its guards."""

    def edit_collection(self, collection_id: str, values: CollectionValues, *, by: Identity) -> CollectionInfo:
        """Change what is given, as `PATCH /api/v1/collections/{id}` does. Raises `NotFoundError`, too."""

    def create_token(self, values: TokenValues, *, by: Identity) -> IssuedToken:
        """Make a token, as `POST /api/v1/tokens` does."""

    def allow_token(self, collection_id: str, fingerprint: str, *, by: Identity) -> bool:
        """Put a token on the list of a collection, as `PUT /api/v1/collections/{id}/access/{fingerprint}` does.

        Return whether it was not there. Raises `NotFoundError` for a token that `by` may not see, too.
        """
