"""Finds the commands, ours and strangers', by their entry points and their whole names."""

import difflib
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cliff.commandmanager import CommandManager

from frepo_core.errors import ConfigurationError, FrepoError


class UnknownCommandError(FrepoError, ValueError):
    """No command has this name. A `ValueError`, too, as that is what cliff's `help` expects."""


class ExactCommands(CommandManager):
    """The commands of one group of entry points: no command runs by a prefix of its name."""

    def load_commands(self, namespace: str) -> None:
        """Note the commands; each is imported when it is run. Raises `ConfigurationError` for a name that two claim."""
        for entry in entry_points(group=namespace):
            if entry.name in self.commands:
                raise ConfigurationError(
                    f"Two packages bring the command {entry.name!r}: {_package(self.commands[entry.name])} and "
                    f"{_package(entry)}. Uninstall one of them."
                )
            self.commands[entry.name] = entry

    def find_command(self, argv: list[str]) -> tuple[Any, str, list[str]]:
        """Return command, name and rest. Raises `UnknownCommandError`, and `ConfigurationError` for a broken one."""
        name, *rest = argv
        if name.startswith("-"):
            raise UnknownCommandError(f"There is no option {name!r} before a command, see `frepo --help`")
        if name not in self.commands:
            near = difflib.get_close_matches(name, self.commands, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "see `frepo --help`"
            raise UnknownCommandError(f"There is no command {name!r}, {hint}")
        try:
            return self.commands[name].load(), name, rest
        except Exception as error:
            package = _package(self.commands[name])
            raise ConfigurationError(f"The command {name!r} of {package} cannot be loaded: {error}") from error


def package_of(entry: Any) -> str | None:
    """Return the name of the package that brings a command; None for cliff's own."""
    return entry.dist.name if isinstance(entry, EntryPoint) and entry.dist else None


def _package(entry: Any) -> str:
    return package_of(entry) or "an unknown package"
