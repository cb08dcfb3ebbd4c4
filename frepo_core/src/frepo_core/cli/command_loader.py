"""Finds commands, our own and third-party ones, by entry points and exact names."""

import difflib
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cliff.commandmanager import CommandManager

from frepo_core.errors import ConfigurationError, FrepoError


class UnknownCommandError(FrepoError, ValueError):
    """No command has this name. Also a `ValueError`, which cliff's `help` expects."""


class ExactCommands(CommandManager):
    """The commands of an entry point group. A prefix of a name does not run the command."""

    def load_commands(self, namespace: str) -> None:
        """Register the commands without importing them. Raises `ConfigurationError` if two packages use one name."""
        for entry in entry_points(group=namespace):
            if entry.name in self.commands:
                raise ConfigurationError(
                    f"Two packages provide the command {entry.name!r}: {_package(self.commands[entry.name])} and "
                    f"{_package(entry)}. Uninstall one of them."
                )
            self.commands[entry.name] = entry

    def find_command(self, argv: list[str]) -> tuple[Any, str, list[str]]:
        """Return the command, its name and its arguments.

        Raises `UnknownCommandError`, or `ConfigurationError` if the command cannot be imported.
        """
        name, *rest = argv
        if name.startswith("-"):
            raise UnknownCommandError(f"Unknown option {name!r} before the command, see `frepo --help`")
        if name not in self.commands:
            near = difflib.get_close_matches(name, self.commands, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "see `frepo --help`"
            raise UnknownCommandError(f"Unknown command {name!r}, {hint}")
        try:
            return self.commands[name].load(), name, rest
        except Exception as error:
            package = _package(self.commands[name])
            raise ConfigurationError(f"The command {name!r} of {package} cannot be loaded: {error}") from error


def package_of(entry: Any) -> str | None:
    """Return the name of the package of a command; None for the commands of cliff."""
    return entry.dist.name if isinstance(entry, EntryPoint) and entry.dist else None


def _package(entry: Any) -> str:
    return package_of(entry) or "an unknown package"
