"""The command that lists plug-ins."""

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cliff.lister import Lister

from ..ini_file import find_ini, is_chosen, read_ini

if TYPE_CHECKING:
    from frepo_core.plugins import PluginRegistry

COLUMNS = ("Kind", "Name", "In use", "Package", "Version", "What it is")


class Plugins(Lister):
    """List storages and strategies, the packages that bring them, and which are in use. Needs no ini file."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return a parser that accepts no abbreviated options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.allow_abbrev = False
        return parser

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Load the plug-ins and return a row for each storage and strategy."""
        from frepo_core.plugins import PluginRegistry

        path = find_ini(self.app.options.ini)
        ini = read_ini(path) if path.is_file() or is_chosen(self.app.options.ini) else {}
        disabled = os.environ.get("PLUGINS_DISABLED") or ini.get("plugins.disabled", "")
        registry = PluginRegistry.from_entry_points(disabled.replace(",", " ").split())
        adapter = os.environ.get("FS_ADAPTER") or ini.get("fs.adapter") or "local"
        return COLUMNS, sorted(_rows(registry, adapter))


def _rows(registry: "PluginRegistry", adapter: str) -> Iterator[tuple[str, ...]]:
    """Yield a row for each. Every loaded strategy counts as in use, because collections choose it."""
    for plugin in registry.found:
        for storage in plugin.storages:
            used = "yes" if storage.name == adapter else "no"
            yield "storage", storage.name, used, plugin.distribution, plugin.version, storage.summary
        for strategy in plugin.strategies:
            yield "strategy", strategy.name, "yes", plugin.distribution, plugin.version, strategy.summary
