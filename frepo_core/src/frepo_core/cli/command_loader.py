"""Finds commands, our own and third-party ones, by entry points and exact names."""

import difflib
from importlib.metadata import EntryPoint
from typing import Any

from cliff.commandmanager import CommandManager

from frepo_core.errors import ConfigurationError, FrepoError

from .command_discovery import find_commands, package_name

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
