"""The documents: the OpenAPI document of `/api/v1`, and the page that shows it."""

from typing import Any

from frepo_core.services.composition.features import Feature


def _describe(config: Any) -> None:
    """Keep the document of all endpoints of the second API, also those of plug-ins, where its views find it."""
    from frepo_core.web.openapi.documentation import Documentation

    from .api import V1_API, error_list

    endpoints = [endpoint for endpoint in config.registry.endpoints if endpoint.is_v1]
    config.registry.v1_documentation = Documentation(endpoints, V1_API, error_list())


FEATURE = Feature(endpoints=["frepo_core.features.documents.endpoints"], web=_describe)
