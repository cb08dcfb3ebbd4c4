"""The base class of commands: settings, services, output."""

import argparse
import atexit
import json
import os
from typing import TYPE_CHECKING, Any, ClassVar

from cliff.command import Command

from frepo_core import gc_pause
from frepo_core.domain.texts.foreign_text import escape_controls
from frepo_core.error_explanations import explain
from frepo_core.errors import ConfigurationError, FieldsError, FrepoError

from .ini_check import IniFile
from .ini_file import find_ini, read_ini
from .terminal import Alarm, Word, confirm

if TYPE_CHECKING:
    from frepo_core.plugins import PluginContext, StorageBackend
    from frepo_core.services.composition.container import Services

    from .app import FrepoApp


_EXAMPLES = "Examples:"


class FrepoCommand(Command):
    """A command of frepo; `take_action` returns the exit status; None is 0.

    A `FrepoError` becomes a message on stderr and the exit status `error_status`. The docstring of the class is its
    help text, and `examples` are command lines that `--help` shows below the options. Results are written to
    `self.app.stdout`.
    """

    app: "FrepoApp"
    examples: ClassVar[tuple[str, ...]] = ()
    error_status: ClassVar[int] = 1
    # Whether a mistake in those parts of the ini file is refused, too, that only the server reads.
    prepares_serving: ClassVar[bool] = False

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return a parser that accepts no abbreviated options. Commands override `add_arguments`."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.allow_abbrev = False
        parser.formatter_class = _HelpFormatter
        self._add_common_arguments(parser)
        self.add_arguments(parser)
        return parser

    def _add_common_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Define what all commands of a kind have, or change what cliff has defined."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Define the arguments and options of this command."""

    def get_epilog(self) -> str:
        """Return the examples, and the package of a third-party command. For ours, cliff would search all packages."""
        package = "" if type(self).__module__.startswith("frepo_core.") else super().get_epilog()
        if not self.examples:
            return package
        return "\n".join([_EXAMPLES, *(f"  {line}" for line in self.examples), *([package] if package else [])])

    @property
    def is_verbose(self) -> bool:
        """Whether `-v` was given, before or after the command."""
        return bool(self.app.options.verbose_level > 1)

    def assemble(self) -> "Services":
        """Return the services without a check of the schema. The imports are local to keep `frepo --help` fast."""
        if self.app.services:
            return self.app.services
        check = IniFile.check_to_serve if self.prepares_serving else IniFile.check_app
        services = self.app.assemble(read_ini(find_ini(self.app.options.ini), check))
        gc_pause.resume()
        atexit.register(services.database.engine.dispose)  # no garbage is collected at the exit
        return services

    def services(self) -> "Services":
        """Return the services. Raises `ConfigurationError` if the database is not ready."""
        from frepo_core.services.composition.startup import make_ready
        from frepo_core.services.content.storages.first_storage import follow_promotion

        services = self.assemble()
        if make_ready(services.database, services.settings, services.plugins, services.backends):
            # Without the settings of the service, it is a new, empty one.
            self.app.stderr.write(
                f"{services.database.name} was empty, its tables were made. If you meant another, set DATABASE_URL.\n"
            )
        follow_promotion(services.database, services.backends)
        return services

    def plugin_context(self, name: str) -> "PluginContext":
        """Return the context of the plug-in whose entry point has this name. The database need not be ready.

        Raises `ConfigurationError` if the plug-in is switched off.
        """
        contexts = self.assemble().contexts
        if name not in contexts:
            raise ConfigurationError(f"The plug-in {name!r} is switched off by plugins.disabled.")
        return contexts[name]

    def read_ini(self) -> dict[str, str]:
        """Return the settings of the ini file as texts. Raises `ConfigurationError` if it cannot be read."""
        return read_ini(find_ini(self.app.options.ini))

    def say(self, text: str) -> None:
        """Print lines, in which texts of clients cannot command a terminal."""
        self.app.stdout.write(f"{escape_controls(text, keeps_lines=True)}\n")

    def word(self, text: str, colour: str | None = None) -> Word:
        """Return a word for a row of a table, in the colour of its meaning or in the given one on a terminal."""
        return Word(text, self.app.stdout, colour)

    def alarm(self, is_so: bool | None, colour: str) -> Alarm:
        """Return a cell for whether something is so that needs attention, in the colour on a terminal."""
        return Alarm(bool(is_so), self.app.stdout, colour)

    def tell_people(self, text: str) -> None:
        """Write a line to stdout if that is a terminal: neither programs nor the mails of cron need it."""
        if self.app.stdout.isatty():
            self.say(text)

    def confirms(self, question: str) -> bool:
        """Ask a yes-or-no question on the terminal. Raises `FieldsError`, which names `--yes`, without a terminal."""
        return confirm(question, stdin=self.app.stdin, output=self.app.stderr)

    def require_yes(self, question: str, *, given: bool) -> None:
        """Ask the question unless `--yes` is `given`. Raises `FrepoError` if the answer is not yes."""
        if not given and not self.confirms(question):
            raise FrepoError("Nothing was changed.")

    def storage(self, name: str) -> "StorageBackend":
        """Build the named storage from its settings, even if it is not in use. The database is not used."""
        if self.app.services:
            return self.app.services.backends.get(name)
        from frepo_core.plugins.registry import PluginRegistry
        from frepo_core.services.content.storages.backends import Backends
        from frepo_core.settings import load_disabled_plugins, storage_names

        ini = read_ini(find_ini(self.app.options.ini))
        plugins = PluginRegistry.from_entry_points(load_disabled_plugins(ini, os.environ))
        return Backends(plugins, name, ini, named=storage_names(ini, os.environ)).get(name)

    def answer(self, identifier: str, *, form: dict[str, Any], response: dict[str, Any]) -> None:
        """Print only the id, for `$(frepo ...)` in scripts; with `-v`, the request and the answer as JSON."""
        self.say(self.answer_text(identifier, form=form, response=response))

    def answer_text(self, identifier: str, *, form: dict[str, Any], response: dict[str, Any]) -> str:
        """Return what `answer` prints."""
        if not self.is_verbose:
            return identifier
        return "\n".join(
            f"{title}:\n{json.dumps(data, indent=2)}" for title, data in (("Form", form), ("Response", response))
        )


class _HelpFormatter(argparse.HelpFormatter):
    """Keeps the lines of the examples; everything else is wrapped."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(_EXAMPLES) else super()._fill_text(text, width, indent)


def bad_value(option: str, value: object, problem: str) -> FieldsError:
    """Return the error for an option's value. `problem` is a code name that has an explanation."""
    return FieldsError({option: [problem]}, explanation=f"{explain(problem)}; given: {value!r}")


def check_length(option: str, text: str | None, most: int) -> str | None:
    """Return the text. Raises `FieldsError` if it is longer than `most` characters."""
    if text is not None and len(text) > most:
        raise FieldsError({option: [f"at most {most} characters"]})
    return text


def check_id(text: str | None) -> str | None:
    """Return the chosen id. Raises `FieldsError` if it is empty, e.g. an unset variable of a script."""
    if text == "":
        raise FieldsError({"--id": ["is empty; leave it out for a random one"]})
    return text
