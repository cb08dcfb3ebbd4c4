"""The console application `frepo`: application options, exit status 0 or 1, errors as messages on stderr."""

import argparse
import itertools
import os
import sys
import traceback
from importlib.metadata import version
from typing import Any

from cliff.app import App

from frepo_core.errors import FrepoError

from .command_loader import ExactCommands
from .error_messages import explain
from .help import overview
from .logs import configure_logging

# cliff's texts do not say that results are printed in any case.
_HELP = {
    "-v": "log more, and show the request and the answer of commands that create something; may be repeated",
    "-q": "log errors only; results are still printed",
    "--log-file": "also log to this file",
    "--debug": "show the traceback of an error",
}


class FrepoApp(App):
    """`frepo [--ini FILE] COMMAND`; `is_nested` if `frepo install` runs it for a line of `post_install_cmd`."""

    def __init__(self, *, is_nested: bool = False) -> None:
        super().__init__(
            description="frepo stores files and keeps versioned backups, controlled by access tokens alone.",
            version=version("frepo-core"),
            command_manager=ExactCommands("frepo.commands"),
            deferred_help=True,
        )
        self.is_nested = is_nested
        # Its output is invalid in bash: it contains a variable for each command, and a variable cannot have a colon.
        del self.command_manager.commands["complete"]

    def build_option_parser(
        self, description: str | None, version: str | None, argparse_kwargs: dict[str, Any] | None = None
    ) -> argparse.ArgumentParser:
        """Add `--ini`; application options are long only, as short ones would be taken from commands."""
        parser = super().build_option_parser(description, version, {"allow_abbrev": False})
        for action in parser._actions:  # cliff offers no other way to change its texts
            action.help = _HELP.get(action.option_strings[0], action.help)
        parser.add_argument("--ini", metavar="FILE", help="the settings; default: $FREPO_INI, else development.ini")
        return parser

    def configure_logging(self) -> None:
        """Log to stderr. stdout is only for results."""
        configure_logging(self.options.verbose_level, self.stderr, self.options.log_file)

    def print_help_if_requested(self) -> None:
        """Print the help and exit if `--help` was given without a command."""
        if self.options.deferred_help:
            self.stdout.write(f"{self.parser.format_help()}\nCommands:\n{overview(self)}\n")
            raise SystemExit(0)

    def interact(self) -> None:
        """Show the help if no command is given. cliff would start a shell."""
        self.options.deferred_help = True
        self.print_help_if_requested()

    def run(self, argv: list[str]) -> int:
        """Return 0 or 1. argparse alone would exit with 2."""
        try:
            _check_encoding(argv)
            if "--version" in self._after_command(argv):
                del self.parser._option_string_actions["--version"]  # it is an option of the command
            status: object = super().run(argv or ["--help"])
        except FrepoError as error:
            status = self._fail(explain(error))
        except SystemExit as exit_:
            status = exit_.code
        try:
            self.stdout.flush()
        except OSError as error:
            _discard_stdout()
            status = self._fail(f"frepo: the answer cannot be written: {error.strerror}")
        return 1 if status else 0

    def run_subcommand(self, argv: list[str]) -> int:
        """Run a command. An error becomes a message on stderr; `--debug` adds the traceback."""
        try:
            factory, name, rest = self.command_manager.find_command(argv)
            # Without a name: with one, cliff reads the metadata of all installed packages to find hooks.
            command = factory(self, self.options)
            return int(command.run(command.get_parser(f"frepo {name}").parse_args(rest)) or 0)
        except KeyboardInterrupt:
            return self._fail("frepo: interrupted")
        except Exception as error:  # noqa: BLE001  # the outermost handler of the console
            if self.options.debug:
                traceback.print_exception(error, file=self.stderr)
            return self._fail(explain(error))

    def _after_command(self, argv: list[str]) -> list[str]:
        return list(itertools.dropwhile(lambda argument: argument not in self.command_manager.commands, argv))

    def _fail(self, message: str) -> int:
        print(message, file=self.stderr)
        return 1


def _check_encoding(argv: list[str]) -> None:
    for number, argument in enumerate(argv, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise FrepoError(f"Argument {number} is not valid UTF-8") from None


def _discard_stdout() -> None:
    """Redirect stdout to /dev/null, so that Python does not fail with a traceback when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str] | None = None) -> int:
    """Run the console; the entry point of the script `frepo`."""
    try:
        return FrepoApp().run(sys.argv[1:] if argv is None else argv)
    except FrepoError as error:
        print(explain(error), file=sys.stderr)
        return 1
