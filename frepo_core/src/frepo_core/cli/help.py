"""What `frepo --help` lists: every command and what it does. Cliff's own list reads all packages that are installed."""

from collections.abc import Iterator
from typing import Any

from cliff.app import App

from .command_loader import package_of


def overview(app: App) -> str:
    """Return a line for each command; a stranger's names its package, and says where it cannot be loaded."""
    lines = dict(_lines(app))
    width = max(map(len, lines))
    return "\n".join(f"  {name:<{width}}  {text}" for name, text in lines.items())


def _lines(app: App) -> Iterator[tuple[str, str]]:
    ours = package_of(app.command_manager.commands["install"])
    for name, entry in sorted(app.command_manager):
        package = package_of(entry)
        try:
            text = _describe(app, entry)
        except Exception as error:  # noqa: BLE001  # a stranger's code; the others have to be listed all the same
            text = f"cannot be loaded: {error}"
        yield name, text if package in {ours, None} else f"{text} ({package})"


def _describe(app: App, entry: Any) -> str:
    description: str = entry.load()(app, None).get_description()
    return description.split("\n")[0].rstrip(".")
