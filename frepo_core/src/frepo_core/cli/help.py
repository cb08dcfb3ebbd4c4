"""The help of the application: what people do, all commands by group, and options. It needs no import of cliff."""

import argparse
import sys

from .command_discovery import GROUP, describe, find_commands, package_names
from .error_messages import exit_status

OWN_PACKAGE = "frepo-core"
# cliff's own command.
_HELP_COMMAND = ("help", "Explain a command; with --all, list all of them")
_DESCRIPTION = "frepo stores files and keeps versioned backups, controlled by access tokens alone."
# What people do, and the first commands for it.
_DOINGS = {
    "send": "frepo backup:create-collection -f shop.sql --token-name db7   prints the lines for a host",
    "look": "frepo status, frepo backup:list, frepo backup:versions NAME, frepo events",
    "restore": "frepo restore   lists what can be restored; frepo restore NAME",
    "tokens": "frepo auth:list, frepo auth:create-token, frepo auth:revoke",
    "storages": "frepo storages, frepo storage:check, frepo storage:usage",
    "plug-ins": "frepo plugins   lists them; frepo plugin:new, of frepo[kit], writes one",
    "examine": "frepo doctor, frepo jobs",
    "serve": "frepo install, frepo serve, frepo worker",
}
# The commands of each group, by what is before their colon.
_GROUPS = {
    "Backups": ("backup", "restore", "fleet"),
    "Files": ("file", "alias", "uploads"),
    "Watch": ("status", "report", "events", "jobs", "doctor", "notify"),
    "Tokens": ("auth", "enrolment"),
    "Storages": ("storages", "storage", "compact", "sealed", "recover"),
    "The service": ("install", "serve", "worker", "db", "secrets", "plugins", "plugin", "help"),
}
_OTHERS = "Of other packages"


def make_parser(version: str) -> argparse.ArgumentParser:
    """Return the parser of the application's options. They are long only, since commands have short ones."""
    parser = argparse.ArgumentParser(
        description=_DESCRIPTION,
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version}")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "-v",
        "--verbose",
        action="count",
        dest="verbose_level",
        default=1,
        help="log more, and show the request and the answer of commands that create something; may be repeated",
    )
    group.add_argument(
        "-q",
        "--quiet",
        action="store_const",
        dest="verbose_level",
        const=0,
        help="log errors only; results are still printed",
    )
    parser.add_argument("--log-file", help="also log to this file")
    parser.add_argument("-h", "--help", dest="deferred_help", action="store_true", help="show this help")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument("--ini", metavar="FILE", help="the settings; default: $FREPO_INI, else development.ini")
    return parser


def print_help(*, is_whole: bool) -> int:
    """Print what people do, or the whole help; return the exit status."""
    return exit_status(lambda: print(help_text() if is_whole else first_help(), end=""), sys.stdout, sys.stderr)  # noqa: T201


def first_help() -> str:
    """Return what people do, a line for each."""
    lines = "".join(f"  {doing:<10}{commands}\n" for doing, commands in _DOINGS.items())
    return f"{_DESCRIPTION}\n\n{lines}\n`frepo help --all` lists all commands, `frepo help COMMAND` explains one.\n"


def help_text() -> str:
    """Return the options and all commands. Raises `ConfigurationError` if two packages use one name for a command."""
    return f"{make_parser('').format_help()}\n{_overview()}"


def _overview() -> str:
    """Return a line for each command, by group. One of a third party is shown with its package or its import error."""
    entries = find_commands(GROUP)
    packages = package_names(entries.values())
    lines = dict([_HELP_COMMAND])
    for name in entries:
        text = describe(name, entries)
        lines[name] = text if packages[name] == OWN_PACKAGE else f"{text} ({packages[name]})"
    width = max(map(len, lines))
    groups: dict[str, list[str]] = {group: [] for group in (*_GROUPS, _OTHERS)}
    for name in sorted(lines):
        groups[_group(name)].append(f"  {name:<{width}}  {lines[name]}\n")
    return "\n".join(f"{group}:\n{''.join(commands)}" for group, commands in groups.items() if commands)


def _group(command: str) -> str:
    kind = command.partition(":")[0]
    return next((group for group, kinds in _GROUPS.items() if kind in kinds), _OTHERS)
