"""A page for frepo that shows the state of all backups in large letters, and a tab for that of one collection."""

from collections.abc import Sequence
from pathlib import Path

from frepo_core.plugins import ConsoleSlot, MenuEntry, Pages, hookimpl

FOLDER = Path(__file__).parent / "pages"


@hookimpl
def frepo_pages() -> Sequence[Pages]:
    """Serve the page at `/wallboard/`, with an entry in the menu of the web console."""
    return [Pages(path="wallboard", folder=FOLDER, title="Wallboard", menu=[MenuEntry(title="Wallboard")])]


@hookimpl
def frepo_console_slots() -> Sequence[ConsoleSlot]:
    """Add a tab to the page of each collection in the web console."""
    return [ConsoleSlot(place="collection.tab", name="wallboard", title="Wallboard", module="wallboard/tab.js")]
