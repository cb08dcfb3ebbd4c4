"""frepo's web console: static pages at `/ui/`, which use `/api/v1` like every other client; and the client's file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from frepo_core.plugins import Pages, hookimpl

if TYPE_CHECKING:
    from frepo_core.web import Endpoint

__all__ = ["frepo_endpoints", "frepo_pages"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


@hookimpl
def frepo_pages() -> Sequence[Pages]:
    """Serve the console."""
    folder = Path(__file__).parent / "pages"
    return [Pages(path="ui", folder=folder, title="Web console", policy=POLICY, is_versioned=True)]


@hookimpl
def frepo_endpoints() -> "Sequence[Endpoint]":
    """Serve the file of the client."""
    from .client_file import endpoints  # `frepo` loads this module, too, and does not need the web

    return endpoints()
