"""The endpoint of the installed plug-ins."""

from typing import TYPE_CHECKING

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.paging import PageReply
from frepo_core.web.schemas.models import Reply

from ..feature import InventoryServices

if TYPE_CHECKING:
    from ..plugin_offers import InstalledPlugin, Offer


class PluginOffer(Reply):
    """One thing that a plug-in offers. `kind` is `storage`, `strategy`, `job`, `command` or another one."""

    kind: str
    name: str
    used: bool
    summary: str

    @classmethod
    def of(cls, offer: "Offer") -> "PluginOffer":
        """Convert an offer."""
        return cls(kind=offer.kind, name=offer.name, used=offer.is_used, summary=offer.summary)


class Plugin(Reply):
    """A plug-in. `name` is its entry point, by which `plugins.disabled` switches it off.

    The hooks and offers of a plug-in that is switched off are not known.
    """

    name: str
    distribution: str
    version: str
    disabled: bool
    hooks: list[str]
    offers: list[PluginOffer]

    @classmethod
    def of(cls, plugin: "InstalledPlugin") -> "Plugin":
        """Convert a plug-in."""
        return cls(
            name=plugin.name,
            distribution=plugin.distribution,
            version=plugin.version,
            disabled=plugin.is_disabled,
            hooks=list(plugin.hooks),
            offers=[PluginOffer.of(offer) for offer in plugin.offers],
        )


class PluginPage(PageReply[Plugin]):
    """All plug-ins, by name. They are always one page."""


def list_plugins(request: FrepoRequest) -> Answer:
    """List the installed plug-ins with their packages, the hooks that they implement, and what they offer."""
    items = [Plugin.of(one) for one in request.services.feature(InventoryServices).inventory.plugins()]
    return Answer(body=PluginPage(items=items, next=None))


ENDPOINTS = [
    Endpoint(
        name="list_plugins",
        method="GET",
        path=f"{V1}/plugins",
        view=list_plugins,
        summary="List the installed plug-ins",
        permission="settings.view",
        answers={200: PluginPage},
    ),
]
