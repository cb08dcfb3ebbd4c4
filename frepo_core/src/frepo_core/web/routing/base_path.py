"""Serves the application below a path that its proxy leaves in the requests."""

from collections.abc import Callable
from typing import Any

from pyramid.config import Configurator
from pyramid.response import Response
from pyramid.tweens import EXCVIEW, INGRESS

from ..base.request import FrepoRequest

Handler = Callable[[FrepoRequest], Response]


def includeme(config: Configurator) -> None:
    """Register the tween, before everything that looks at the path."""
    config.add_tween("frepo_core.web.routing.base_path.make_tween", under=INGRESS, over=EXCVIEW)


def make_tween(handler: Handler, registry: Any) -> Handler:
    """Return a tween that removes `base_path` from the paths of requests, where a proxy has not done so."""

    def strip(request: FrepoRequest) -> Response:
        if base_path := request.services.settings.base_path:
            request.environ["PATH_INFO"] = without_base_path(request.environ.get("PATH_INFO", ""), base_path)
        return handler(request)

    return strip


def without_base_path(path: str, base_path: str) -> str:
    """Return the path without `base_path` at its begin, if it is there."""
    if base_path and (path == base_path or path.startswith(f"{base_path}/")):
        return path.removeprefix(base_path) or "/"
    return path
