"""The list of commands in `frepo --help`. cliff's own list reads the metadata of all installed packages."""

from collections.abc import Iterator
from typing import Any

from cliff.app import App

from .command_loader import package_of


def overview(app: App) -> str:
    """Return a line for each command. A third-party command is shown with its package, or with its import error."""
    lines = dict(_lines(app))
    width = max(map(len, lines))
    return "\n".join(f"  {name:<{width}}  {text}" for name, text in lines.items())


def _lines(app: App) -> Iterator[tuple[str, str]]:
    ours = package_of(app.command_manager.commands["install"])
    for name, entry in sorted(app.command_manager):
        package = package_of(entry)
        try:
            text = _describe(app, entry)
        except Exception as error:  # noqa: BLE001  # third-party code; the other commands must still be listed
            text = f"cannot be loaded: {error}"
        yield name, text if package in {ours, None} else f"{text} ({package})"


def _describe(app: App, entry: Any) -> str:
    description: str = entry.load()(app, None).get_description()
    return description.split("\n")[0].rstrip(".")
