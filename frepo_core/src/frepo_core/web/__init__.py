"""The WSGI application. Views translate between HTTP and the services; the rules are in the services.

Plug-ins that add endpoints import from here.
"""

from pyramid.config import Configurator

from frepo_core.services.composition.container import Services

from .base.body_sink import BodySink
from .base.endpoint import Answer, Endpoint
from .base.request import FrepoRequest
from .content.request_body import check_coded_start, coding_of, sent_content
from .conventions.dialect import SecondDialect
from .conventions.paging import PageQuery, next_cursor, page_of
from .openapi.documentation import Documentation
from .openapi.first_api import FIRST_API
from .routing.plugin_endpoints import plugin_endpoints
from .routing.plugin_pages import add_pages
from .routing.router import add_endpoints
from .routing.security import TokenPolicy
from .routing.server_hooks import ServerHooks
from .schemas.models import Form, Query, Reply
from .v1.collections.version_models import Version
from .v1.endpoints import v1_endpoints
from .v1.files.models import StoredFile
from .v1.plugin_answers import file_answer, version_answer, version_content, version_path
from .views import (
    add_by_url,
    answer_cache,
    api_docs,
    collection_tokens,
    collections,
    downloads,
    listing,
    status,
    tokens,
    uploads,
    versions,
)
from .views import protected_urls as protected_urls
from .views.dialect import FirstDialect

# What authors of plug-ins use; docs/hooks.md describes each name.
__all__ = [
    "Answer",
    "BodySink",
    "Endpoint",
    "Form",
    "FrepoRequest",
    "PageQuery",
    "Query",
    "Reply",
    "StoredFile",
    "Version",
    "check_coded_start",
    "coding_of",
    "file_answer",
    "next_cursor",
    "page_of",
    "sent_content",
    "version_answer",
    "version_content",
    "version_path",
]

# Routes are matched in this order: `/repository/file/upload` must match the upload before a file named `upload`.
# Otherwise the most frequent routes come first.
VIEW_MODULES = (
    add_by_url,
    uploads,
    downloads,
    status,
    api_docs,
    tokens,
    collections,
    collection_tokens,
    listing,
    versions,
)


def all_endpoints(services: Services) -> list[Endpoint]:
    """Return every endpoint of a service with these settings. Endpoints of plug-ins come last and replace no other.

    Raises `ConfigurationError` if a plug-in declares an invalid endpoint.
    """
    own = [endpoint for module in VIEW_MODULES for endpoint in module.ENDPOINTS]
    own += v1_endpoints(services.features) + protected_urls.endpoints(services.protected_urls)
    return own + plugin_endpoints(services.plugins.found, own, services.contexts)


def make_app(services: Services) -> object:
    """Return the WSGI application. All services are built before its threads use them."""
    services.build_all()
    config = Configurator(request_factory=FrepoRequest)
    config.registry.services = services
    config.registry.dialects = {False: FirstDialect(), True: SecondDialect()}
    config.set_security_policy(TokenPolicy())
    config.include("frepo_core.web.routing.base_path")
    config.include("frepo_core.web.routing.error_views")
    config.include("frepo_core.web.viewer.viewer")
    config.include("frepo_core.web.routing.database_wait")
    endpoints = all_endpoints(services)
    if services.request_observers:
        config.include("frepo_core.web.routing.request_observers")
    add_endpoints(config, endpoints, answer_cache.make_decorators(services.settings))
    add_pages(config, services.plugins.found, endpoints)
    own = [endpoint for endpoint in config.registry.endpoints if not endpoint.is_v1]
    config.registry.documentation = Documentation(own, FIRST_API)
    for feature in services.features:
        feature.web(config)
    application = config.make_wsgi_app()
    application.server_hooks = ServerHooks(application, services)
    return application
