"""frepo's web console: static pages at `/ui/`, which use `/api/v1` like every other client."""

from collections.abc import Sequence
from pathlib import Path

from frepo_core.plugins import Pages, hookimpl

__all__ = ["frepo_pages"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


@hookimpl
def frepo_pages() -> Sequence[Pages]:
    """Serve the console."""
    folder = Path(__file__).parent / "pages"
    return [Pages(path="ui", folder=folder, title="Web console", policy=POLICY, is_versioned=True)]
