"""A page for frepo that shows the state of all backups in large letters."""

from collections.abc import Sequence
from pathlib import Path

from frepo_core.plugins import MenuEntry, Pages, hookimpl

FOLDER = Path(__file__).parent / "pages"


@hookimpl
def frepo_pages() -> Sequence[Pages]:
    """Serve the page at `/wallboard/`, with an entry in the menu of the web console."""
    return [Pages(path="wallboard", folder=FOLDER, title="Wallboard", menu=[MenuEntry(title="Wallboard")])]
