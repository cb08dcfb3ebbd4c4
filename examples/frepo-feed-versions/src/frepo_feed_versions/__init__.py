"""An Atom feed of the versions of a collection, read page by page."""

from typing import TYPE_CHECKING

from frepo_core.plugins import hookimpl

if TYPE_CHECKING:
    from frepo_core.web import Endpoint


@hookimpl
def frepo_endpoints() -> "list[Endpoint]":
    """Provide `GET /feed/{collection}`."""
    from .views import ENDPOINTS  # `frepo` loads this module, too, and does not need the web

    return ENDPOINTS
