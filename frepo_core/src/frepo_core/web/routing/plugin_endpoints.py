"""Checks the endpoints of plug-ins at the start, so that an invalid one does not fail at its first request."""

import re
from collections.abc import Iterable

from frepo_core.domain.access import RULES
from frepo_core.errors import ConfigurationError
from frepo_core.plugins.discovery import FoundPlugin

from ..openapi.responses import MEANINGS
from .endpoint import Endpoint


def plugin_endpoints(found: Iterable[FoundPlugin], own: Iterable[Endpoint]) -> list[Endpoint]:
    """Return the endpoints of the plug-ins; `own` are those of the service.

    Raises `ConfigurationError` that names the package of an invalid endpoint.
    """
    own = list(own)
    owners = {_route(endpoint): "frepo-core" for endpoint in own}
    names = {endpoint.name: "frepo-core" for endpoint in own}
    endpoints = []
    for plugin in found:
        for endpoint in plugin.endpoints():
            if problem := _problem(endpoint, owners, names):
                raise ConfigurationError(
                    f"The plug-in {plugin.name!r} of the package {plugin.distribution} declares an endpoint that "
                    f"cannot be served: {problem}."
                )
            owners[_route(endpoint)] = names[endpoint.name] = plugin.distribution
            endpoints.append(endpoint)
    return endpoints


def _problem(endpoint: object, owners: dict[tuple[str, str], str], names: dict[str, str]) -> str:
    if not isinstance(endpoint, Endpoint):
        return f"{endpoint!r} is no frepo_core.web.Endpoint"
    name = f"{endpoint.method} {endpoint.path}"
    if _route(endpoint) in owners:
        return f"{name} belongs to {owners[_route(endpoint)]}"
    if endpoint.name in names:
        return f"the name {endpoint.name!r} of {name} belongs to an endpoint of {names[endpoint.name]}"
    if endpoint.permission is not None and endpoint.permission not in RULES:
        return f"{name} has the unknown permission {endpoint.permission!r}. Permissions: {', '.join(sorted(RULES))}"
    if unknown := sorted(status for status in endpoint.answers if status not in MEANINGS):
        return f"{name} answers the status {unknown[0]}. Statuses: {', '.join(map(str, MEANINGS))}"
    return ""


def _route(endpoint: Endpoint) -> tuple[str, str]:
    """Return what must be unique: method and path. The names of placeholders do not count."""
    return endpoint.method, re.sub(r"{[^}]*}", "{}", endpoint.path)
