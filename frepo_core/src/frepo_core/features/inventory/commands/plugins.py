"""The command that lists plug-ins, and the settings of one."""

import argparse
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cliff.lister import Lister

from frepo_core.cli.ini_file import find_ini, is_chosen, read_ini

if TYPE_CHECKING:
    from frepo_core.plugins import PluginContext
    from frepo_core.plugins.registry import PluginRegistry

# The columns of a screen, where stdout is no terminal.
SCREEN = 120


class Plugins(Lister):
    """List what plug-ins offer, their packages, and what is in use; or the settings of one. Needs no ini file."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add `--settings`; accept no abbreviated options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.allow_abbrev = False
        parser.epilog = "Example: frepo plugins --settings local"
        parser.add_argument(
            "--settings", metavar="NAME", help="show the settings of the plug-in with this entry point instead"
        )
        return parser

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Load the plug-ins and return the rows. Mistakes of the installation are reported on stderr."""
        from frepo_core.plugins.mistakes import find_deprecated_uses, find_mistakes
        from frepo_core.plugins.registry import PluginRegistry
        from frepo_core.settings import adapters_in_use, load_disabled_plugins

        from . import plugin_tables

        path = find_ini(self.app.options.ini)
        ini = read_ini(path) if path.is_file() or is_chosen(self.app.options.ini) else {}
        disabled = load_disabled_plugins(ini, os.environ)
        plugins = PluginRegistry.from_entry_points(disabled)
        if arguments.settings is not None:
            return plugin_tables.SETTINGS, list(plugin_tables.setting_rows(plugins, arguments.settings))
        for text in (*find_mistakes(disabled), *find_deprecated_uses(plugins.found)):
            self._warn(text)
        plugins, contexts = self._configured(plugins, ini)
        return plugin_tables.OFFERS, sorted(
            plugin_tables.offer_rows(plugins, contexts, adapters_in_use(ini, os.environ))
        )

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Iterable[Sequence[str]]
    ) -> int:
        """Print the rows. A table has fewer columns unless `-c` names some, and fits on the terminal."""
        from .plugin_tables import for_people

        if parsed_args.formatter == "table":
            if not parsed_args.columns:
                parsed_args.columns, data = for_people(column_names, data)
            parsed_args.max_width = parsed_args.max_width or shutil.get_terminal_size((SCREEN, 24)).columns
        return int(super().produce_output(parsed_args, column_names, data))

    def _configured(
        self, plugins: "PluginRegistry", ini: Mapping[str, str]
    ) -> tuple["PluginRegistry", "dict[str, PluginContext]"]:
        """Return what the plug-ins offer with these settings. Wrong settings are reported; the rest is listed."""
        from frepo_core.errors import ConfigurationError
        from frepo_core.plugins.registry import make_contexts
        from frepo_core.services.composition.facade.plugin_service import PluginService

        try:
            contexts: Any = make_contexts(
                plugins.found, plugins.load_settings(ini, os.environ), lambda _: PluginService()
            )
            return plugins.configured(contexts), contexts
        except ConfigurationError as error:
            self._warn(error.message)
            return plugins, {}

    def _warn(self, text: str) -> None:
        self.app.stderr.write(f"{text}\n")
