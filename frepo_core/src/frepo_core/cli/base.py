"""What all commands share: the settings of the ini file, the services, and how an id is printed."""

import argparse
import json
import os
from typing import TYPE_CHECKING, Any

from cliff.command import Command

from frepo_core.errors import FieldsError

from .ini_file import find_ini, read_ini

if TYPE_CHECKING:
    from frepo_core.plugins import StorageBackend
    from frepo_core.services.container import Services

    from .app import FrepoApp


class FrepoCommand(Command):
    """A command of frepo; `take_action` returns the exit status, None being 0.

    What is refused is raised: a `FrepoError` becomes one message on stderr and exit status 1.
    The help is the docstring of the class. Output goes to `self.app.stdout`.
    """

    app: "FrepoApp"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take options by their whole names only."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.allow_abbrev = False
        parser.formatter_class = argparse.HelpFormatter
        return parser

    def get_epilog(self) -> str:
        """Say which package brings a stranger's command; of our own cliff would read all that is installed to say nothing."""
        return "" if type(self).__module__.startswith("frepo_core.") else super().get_epilog()

    @property
    def is_verbose(self) -> bool:
        """Tell whether -v was given, before or after the command."""
        return bool(self.app.options.verbose_level > 1)

    def assemble(self) -> "Services":
        """Build the services over whatever schema there is; imported late, so that `frepo --help` answers at once."""
        from frepo_core.services.container import assemble

        return assemble(read_ini(find_ini(self.app.options.ini)))

    def services(self) -> "Services":
        """Build the services, over a database that is ready. Raises `ConfigurationError` where it is not."""
        from frepo_core.services.startup import make_ready

        services = self.assemble()
        make_ready(services.database, services.settings)
        return services

    def say(self, text: str) -> None:
        """Print a line for people."""
        self.app.stdout.write(f"{text}\n")

    def storage(self, name: str) -> "StorageBackend":
        """Build the storage of this name from its settings, in use or not; the database is not touched."""
        from frepo_core.plugins import PluginRegistry
        from frepo_core.services.blobs.backends import Backends
        from frepo_core.settings import load_settings

        ini = read_ini(find_ini(self.app.options.ini))
        plugins = PluginRegistry.from_entry_points(load_settings(ini, os.environ).plugins_disabled)
        return Backends(plugins, name, ini).get(name)

    def answer(self, identifier: str, *, form: dict[str, Any], response: dict[str, Any]) -> None:
        """Print a bare id, so that a script can use `$(frepo ...)`; with -v what was asked and answered, as JSON."""
        if not self.is_verbose:
            self.say(identifier)
            return
        for title, data in (("Form", form), ("Response", response)):
            self.say(f"{title}:\n{json.dumps(data, indent=2)}")


def check_length(option: str, text: str | None, most: int) -> str | None:
    """Return the text. Raises `FieldsError` where it has more characters than the API takes."""
    if text is not None and len(text) > most:
        raise FieldsError({option: [f"at most {most} characters"]})
    return text


def check_id(text: str | None) -> str | None:
    """Return the chosen id. Raises `FieldsError` for an empty one, which an unset variable of a script leaves."""
    if text == "":
        raise FieldsError({"--id": ["is empty; leave it out for a random one"]})
    return text
