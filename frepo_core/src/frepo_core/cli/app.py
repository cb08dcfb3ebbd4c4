"""The command `frepo`: its options, exit status, errors as messages on stderr."""

import argparse
import difflib
import itertools
import logging
import select
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, version
from typing import TYPE_CHECKING, Any, TextIO

from cliff.app import App
from cliff.commandmanager import CommandManager
from cliff.help import HelpCommand

from frepo_core import gc_pause
from frepo_core.domain.texts.foreign_text import escape_controls
from frepo_core.errors import ConfigurationError, FrepoError
from frepo_core.log_stream import guard
from frepo_core.services.base.log_records import log_safely

from .command_discovery import GROUP, find_commands, package_name
from .error_messages import exit_status, explain
from .help import first_help, help_text, make_parser

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

Assemble = Callable[[Mapping[str, str]], "Services"]


# Words that people know from other programs, and the commands that do what they mean.
_MEANT = {
    "backup": ("backup:upload", "frepo-client push", "backup:list"),
    "check": ("doctor", "status"),
    "collections": ("backup:list",),
    "config": ("doctor",),
    "download": ("restore", "backup:download"),
    "files": ("file:list",),
    "forget": ("backup:preview", "backup:delete-version"),
    "list": ("backup:list", "backup:versions", "file:list"),
    "log": ("events",),
    "logs": ("events",),
    "ls": ("backup:list", "file:list"),
    "prune": ("backup:preview", "storage:sweep"),
    "push": ("frepo-client push", "backup:upload"),
    "snapshots": ("backup:list", "backup:versions"),
    "start": ("serve",),
    "stats": ("status", "storage:usage"),
    "tokens": ("auth:list",),
    "upload": ("frepo-client push", "file:upload"),
    "users": ("auth:list",),
    "verify": ("storage:verify", "doctor"),
    "versions": ("backup:versions",),
}


class UnknownCommandError(FrepoError, ValueError):
    """No command has this name. Also a `ValueError`, which cliff's `help` expects."""


class ExactCommands(CommandManager):
    """The commands of an entry point group. A prefix of a name does not run the command."""

    def load_commands(self, namespace: str) -> None:
        """Register the commands without importing them. Raises `ConfigurationError` if two packages use one name."""
        self.commands.update(find_commands(namespace))

    def find_command(self, argv: list[str]) -> tuple[Any, str, list[str]]:
        """Return the command, its name and its arguments.

        Raises `UnknownCommandError`, or `ConfigurationError` if the command cannot be imported.
        """
        name, *rest = argv
        if name.startswith("-"):
            raise UnknownCommandError(f"Unknown option {name!r} before the command, see `frepo --help`")
        if name not in self.commands:
            near = _MEANT.get(name) or difflib.get_close_matches(name, self.commands, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "see `frepo --help`"
            raise UnknownCommandError(f"Unknown command {name!r}, {hint}")
        entry = self.commands[name]
        try:
            return entry.load(), name, rest
        except Exception as error:
            package = package_name(entry) if isinstance(entry, EntryPoint) else "cliff"
            raise ConfigurationError(f"The command {name!r} of {package} cannot be loaded: {error}") from error


def _assemble_nothing(settings: Mapping[str, str]) -> "Services":
    raise LookupError("This application was made without a function that assembles the services")


class FrepoApp(App):
    """`frepo [--ini FILE] COMMAND`; `is_nested` if `frepo install` runs it for a line of `post_install_cmd`.

    `services` are those of a service that runs in this process; by default, a command builds its own with `assemble`
    from the settings.
    """

    def __init__(
        self,
        assemble: Assemble = _assemble_nothing,
        *,
        is_nested: bool = False,
        services: "Services | None" = None,
    ) -> None:
        super().__init__(
            description="",  # the parser has its own
            version=version("frepo-core"),
            command_manager=ExactCommands(GROUP),
            deferred_help=True,
        )
        self.assemble = assemble
        self.is_nested = is_nested
        self.services = services
        # Its output is invalid in bash: it contains a variable for each command, and a variable cannot have a colon.
        del self.command_manager.commands["complete"]
        self.command_manager.add_command("help", _Help)

    def build_option_parser(
        self, description: str | None, version: str | None, argparse_kwargs: dict[str, Any] | None = None
    ) -> argparse.ArgumentParser:
        """Return the parser of the application's options."""
        return make_parser(version or "")

    def configure_logging(self) -> None:
        """Log to stderr. stdout is only for results."""
        configure_logging(self.options.verbose_level, self.stderr, self.options.log_file)

    def print_help_if_requested(self) -> None:
        """Print the help and exit if `--help` was given without a command."""
        if self.options.deferred_help:
            self.stdout.write(help_text())
            raise SystemExit(0)

    def interact(self) -> None:
        """Show what people do if no command is given. cliff would start a shell."""
        self.stdout.write(first_help())
        raise SystemExit(0)

    def run(self, argv: list[str]) -> int:
        """Return the exit status: that of the command, 1 for an error before it runs."""
        return exit_status(lambda: self._run(argv), self.stdout, self.stderr)

    def _run(self, argv: list[str]) -> int:
        _check_encoding(argv)
        if "--version" in self._after_command(argv):
            del self.parser._option_string_actions["--version"]  # it is an option of the command
        return int(super().run(argv or ["--help"]))

    def run_subcommand(self, argv: list[str]) -> int:
        """Run a command. An error becomes a message on stderr; `--debug` adds the traceback."""
        parser, error_status = None, 1
        try:
            factory, name, rest = self.command_manager.find_command(argv)
            # Without a name: with one, cliff reads the metadata of all installed packages to find hooks.
            command = factory(self, self.options)
            if not type(command).__module__.startswith("frepo_core."):  # it may work long without frepo's services
                gc_pause.resume()
            error_status = getattr(command, "error_status", error_status)
            parser = command.get_parser(f"frepo {name}")
            return int(command.run(parser.parse_args(rest)) or 0)
        except SystemExit as exit_:  # of argparse: a wrong argument, or --help
            return error_status if exit_.code else 0
        except KeyboardInterrupt:
            return self._fail("frepo: interrupted", error_status)
        except Exception as error:  # noqa: BLE001  # the outermost handler of the command
            if isinstance(error, BrokenPipeError) and self._is_stdout_closed():
                return error_status
            if self.options.debug:
                traceback.print_exception(error, file=self.stderr)
            return self._fail(explain(error, parser), error_status)

    def _after_command(self, argv: list[str]) -> list[str]:
        return list(itertools.dropwhile(lambda argument: argument not in self.command_manager.commands, argv))

    def _is_stdout_closed(self) -> bool:
        """Return whether the program that reads stdout has ended, such as `head`."""
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return bool(poll.poll(0))  # POLLERR or POLLHUP; nothing else is asked for

    def _fail(self, message: str, status: int) -> int:
        print(escape_controls(message, keeps_lines=True), file=self.stderr)
        return status


class _Help(HelpCommand):
    """Explain a command; with --all, list all of them."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with `--all`."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--all", action="store_true", help="list all commands by group")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Explain the command, or print the whole help."""
        if parsed_args.all or not parsed_args.cmd:
            self.app.stdout.write(help_text())
            return 0
        return super().take_action(parsed_args)

    def get_epilog(self) -> str:
        """Return no text. cliff would read the metadata of all installed packages to find its own, for 0.2 s."""
        return ""


def _check_encoding(argv: list[str]) -> None:
    for number, argument in enumerate(argv, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise FrepoError(f"Argument {number} is not valid UTF-8") from None


def main(arguments: list[str], assemble: Assemble) -> int:
    """Run the command with cliff."""
    return exit_status(lambda: FrepoApp(assemble).run(arguments), sys.stdout, sys.stderr)


_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)
_FILE_FORMAT = "%(asctime)s %(levelname)-5s %(name)s: %(message)s"


def configure_logging(verbosity: int, stderr: TextIO, log_file: str | None) -> None:
    """Replace the logging configuration.

    `verbosity` counts as cliff does: 0 for -q, 1 without options, 2 for -v, 3 for -vv, 4 for -vvv. Libraries
    log one level less than frepo.
    """
    log_safely()
    handlers: list[logging.Handler] = [logging.StreamHandler(guard(stderr))]
    if log_file:
        handlers.append(logging.FileHandler(log_file, encoding="utf-8"))
        handlers[-1].setFormatter(logging.Formatter(_FILE_FORMAT))
    logging.basicConfig(
        level=_level(max(verbosity - 1, 0)), format="%(levelname)s: %(message)s", handlers=handlers, force=True
    )
    logging.getLogger("frepo_core").setLevel(_level(verbosity))


def _level(verbosity: int) -> int:
    return _LEVELS[min(verbosity, len(_LEVELS) - 1)]
