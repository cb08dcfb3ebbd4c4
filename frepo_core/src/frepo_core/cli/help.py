"""The help of the application: its options, and a line for each command. It needs no import of cliff."""

import argparse
import sys

from .command_discovery import GROUP, describe, find_commands, package_names
from .error_messages import exit_status

OWN_PACKAGE = "frepo-core"
# cliff's own command.
_HELP_COMMAND = ("help", "print detailed help for another command")


def make_parser(version: str) -> argparse.ArgumentParser:
    """Return the parser of the application's options. They are long only, since commands have short ones."""
    parser = argparse.ArgumentParser(
        description="frepo stores files and keeps versioned backups, controlled by access tokens alone.",
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


def print_help() -> int:
    """Print the help; return the exit status."""
    return exit_status(lambda: print(help_text(), end=""), sys.stdout, sys.stderr)  # noqa: T201


def help_text() -> str:
    """Return the help. Raises `ConfigurationError` if two packages use one name for a command."""
    return f"{make_parser('').format_help()}\nCommands:\n{_overview()}\n"


def _overview() -> str:
    """Return a line for each command. A third-party command is shown with its package, or with its import error."""
    entries = find_commands(GROUP)
    packages = package_names(entries.values())
    lines = dict([_HELP_COMMAND])
    for name in entries:
        text = describe(name, entries)
        lines[name] = text if packages[name] == OWN_PACKAGE else f"{text} ({packages[name]})"
    width = max(map(len, lines))
    return "\n".join(f"  {name:<{width}}  {lines[name]}" for name in sorted(lines))
