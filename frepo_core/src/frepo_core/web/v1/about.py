"""`GET /api/v1`: what this service is and can do, and who the caller is."""

import functools
from dataclasses import asdict
from importlib.metadata import version

from pydantic import Field

from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import permitted_actions
from frepo_core.plugins.console_slot import ConsoleSlot, SlotPlace
from frepo_core.plugins.pages import Pages
from frepo_core.services.access.token_records import TokenRecord
from frepo_core.services.backups.collections.planned_change import service_limits
from frepo_core.services.content.decoding.content_codings import CODINGS

from ..base.endpoint import Answer, Endpoint
from ..base.request import V1, FrepoRequest
from ..conventions.types import Duration, Fingerprint, Time, Whole
from ..schemas.models import Reply
from .collections.models import Limits


class Restrictions(Reply):
    """What narrows a token's roles. An empty list, and 0 bytes, restrict nothing. Networks are addresses or CIDR."""

    tags: list[str]
    mime_types: list[str]
    max_file_size: Whole
    user_agents: list[str]
    ip_addresses: list[str]

    @classmethod
    def of(cls, token: Identity | TokenRecord) -> "Restrictions":
        """Return the restrictions of a token."""
        return cls(
            tags=list(token.tags),
            mime_types=list(token.mimes),
            max_file_size=token.max_file_size,
            user_agents=list(token.user_agents),
            ip_addresses=list(token.ip_addresses),
        )


class Caller(Reply):
    """The token of the request. `expires_at` is null for a token that does not expire, `name` for one without name."""

    name: str | None
    fingerprint: Fingerprint
    roles: list[str]
    restrictions: Restrictions
    expires_at: Time | None


class Page(Reply):
    """An entry of a plug-in in the menu of the web console: its text, and the path of its page."""

    title: str
    path: str = Field(examples=["/acme/"])

    @classmethod
    def of(cls, pages: Pages) -> "list[Page]":
        """Return the entries of a plug-in's pages."""
        return [cls(title=entry.title, path=f"/{pages.path}/{entry.path}") for entry in pages.menu]


class Slot(Reply):
    """What a package shows in a place of the web console. `module` is the path of its JavaScript module.

    `applies_to` are the collections that it is for, by their strategy or a label; none: all.
    """

    place: SlotPlace
    name: str
    title: str
    module: str = Field(examples=["/acme/card.js"])
    package: str
    applies_to: list[str] = Field(examples=[["strategy:keep_daily", "label:wal"]])

    @classmethod
    def of(cls, slot: ConsoleSlot, package: str) -> "Slot":
        """Convert a slot of a plug-in."""
        return cls(
            place=slot.place,
            name=slot.name,
            title=slot.title,
            module=f"/{slot.module}",
            package=package,
            applies_to=list(slot.applies_to),
        )


class About(Reply):
    """The service and the caller.

    `features` are the resources of this API that the service has. `content_codings` are what Content-Encoding of an
    upload may be, also of one in parts: the service stores what the body contains. `compacts` is whether it stores
    older versions as differences to newer ones, which needs contents that their senders have not compressed. `pages`
    are the pages, and `slots` the modules, that plug-ins add to the web console. `trash_keep` is how long what is
    evicted or deleted can be restored, null if the trash is off. `limits` are those of new collections, and the most
    that a collection may have; 0 is no limit.

    `may` are the actions that the token is allowed: those of a collection, such as `version.upload`, at least in the
    collections that list it. `may` of a collection says which are allowed there.
    """

    version: str
    features: list[str]
    content_codings: list[str] = Field(examples=[["gzip", "zstd"]])
    compacts: bool
    strategies: list[str]
    read_only: bool
    trash_keep: Duration | None
    limits: Limits
    pages: list[Page]
    slots: list[Slot]
    may: list[str]
    token: Caller


def show(request: FrepoRequest) -> Answer:
    """Show the version of the service, what it can do, and what the token of the request may do."""
    return Answer(
        body=About(
            version=_version(),
            features=_features(request),
            content_codings=list(CODINGS),
            compacts=request.services.settings.compact,
            strategies=sorted(request.services.plugins.strategies),
            read_only=request.services.settings.read_only,
            trash_keep=request.services.settings.trash_keep or None,
            limits=Limits(**asdict(service_limits(request.services.settings))),
            pages=[
                page for plugin in request.services.plugins.found for pages in plugin.pages() for page in Page.of(pages)
            ],
            slots=[
                Slot.of(owned.spec, owned.plugin.distribution)
                for owned in request.services.plugins.console_slots.values()
            ],
            may=permitted_actions(request.sender, is_read_only=request.services.settings.read_only),
            token=_caller(request.sender),
        )
    )


def _caller(identity: Identity) -> Caller:
    return Caller(
        name=identity.name or None,
        fingerprint=identity.fingerprint,
        roles=sorted(identity.roles),
        restrictions=Restrictions.of(identity),
        expires_at=identity.expires_at,
    )


def _features(request: FrepoRequest) -> list[str]:
    """Return the first parts of the paths below `/api/v1`."""
    paths = (endpoint.path for endpoint in request.registry.endpoints if endpoint.is_v1)
    first = {path.removeprefix(V1).strip("/").partition("/")[0] for path in paths}
    return sorted(name for name in first if name not in {"", "doc"} and not {".", ":"} & set(name))


@functools.cache
def _version() -> str:
    """Read the version from the package's metadata once: it is slow."""
    return version("frepo-core")


ENDPOINTS = [
    Endpoint(
        name="show_service",
        method="GET",
        path=V1,
        view=show,
        summary="The service, and who am I",
        permission="token",
        answers={200: About},
    ),
]
