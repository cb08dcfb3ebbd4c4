"""The web application over the services. Views translate; they decide nothing.

A plug-in that adds endpoints imports from here what its hook `frepo_endpoints` and its views need.
"""

from pyramid.config import Configurator

from frepo_core.services.container import Services

from .openapi.documentation import Documentation
from .routing.endpoint import Answer, Endpoint
from .routing.plugin_endpoints import plugin_endpoints
from .routing.request import FrepoRequest
from .routing.router import add_endpoints
from .routing.security import TokenPolicy
from .routing.server_hooks import ServerHooks
from .schemas.models import Form, Query, Reply
from .views import add_by_url, api_docs, collections, downloads, listing, status, tokens, uploads, versions
from .views import protected_urls as protected_urls

__all__ = ["Answer", "Endpoint", "Form", "FrepoRequest", "Query", "Reply", "all_endpoints", "make_app"]

# Routes are tried in this order: `/repository/file/upload` is an upload, no file is named so; no collection either.
# What is asked for most comes first as far as that allows.
ROOMS = (add_by_url, uploads, downloads, status, api_docs, tokens, collections, listing, versions)


def all_endpoints(services: Services) -> list[Endpoint]:
    """Return every endpoint of a service with these settings; those of plug-ins come last and take no other's place.

    Raises `ConfigurationError` for what a plug-in may not declare.
    """
    own = [endpoint for room in ROOMS for endpoint in room.ENDPOINTS] + protected_urls.endpoints(
        services.protected_urls
    )
    return own + plugin_endpoints(services.plugins.found, own)


def make_app(services: Services) -> object:
    """Return the WSGI application."""
    config = Configurator(request_factory=FrepoRequest)
    config.registry.services = services
    config.set_security_policy(TokenPolicy())
    config.include("frepo_core.web.routing.error_views")
    add_endpoints(config, all_endpoints(services))
    config.registry.documentation = Documentation(config.registry.endpoints)
    application = config.make_wsgi_app()
    application.server_hooks = ServerHooks(application, services)
    return application
