"""The command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from . import __version__
from .commands.context import Context
from .errors import COMMAND_FAILED, ClientError
from .interrupts import handle_signals
from .reporter import Reporter
from .texts import plain_error

_COMMANDS = {
    "enroll": "get the token and the configuration for a one-time code",
    "run": "make the backups of the configuration",
    "pipe": "store what a command prints, if it ends well",
    "push": "store a file",
    "restore": "get the backup of a job, and how to load it",
    "pull": "get a version, into a file or a command",
    "verify": "test on this machine whether a version can be restored",
    "check": "try everything but the dumps",
    "schedule": "write what starts the backups each night",
    "spool": "list or delete the dumps that wait for the service",
    "status": "print the states of the collections",
    "token": "replace the token of this machine by a new one",
    "wal": "archive the WAL of a PostgreSQL, and get it back",
}


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    words = list(sys.argv[1:] if words is None else words)
    if "wal" not in words:
        return _run(words)
    from .commands.wal import run_for_postgresql

    return run_for_postgresql(lambda: _run(words), words)


def _run(words: Sequence[str]) -> int:
    words, command = split_command(words)
    arguments = make_parser(is_lazy=True).parse_args(words)
    arguments.command = command
    reporter = Reporter(as_json=arguments.json, quiet=arguments.quiet)
    handle_signals()
    try:
        return int(arguments.module.run(Context.of(arguments, reporter), arguments))
    except ClientError as error:
        reporter.fail(str(error), {"error": str(error), "status": error.status})
        fail = getattr(arguments.module, "fail", None)  # `status` has an exit status of its own
        return fail(reporter.shown(str(error))) if fail else error.status
    except KeyboardInterrupt:
        reporter.fail("ended; nothing that was not complete is stored")
        return 130
    except BrokenPipeError:
        return 141
    except OSError as error:  # such as a full disk
        reporter.fail(f"{error.filename or 'this machine'}: {error.strerror or error}")
        return COMMAND_FAILED
    except Exception as error:  # noqa: BLE001 - a traceback would show what is secret
        reporter.fail(f"this should not happen: {plain_error(error)}")
        return COMMAND_FAILED


def split_command(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return what is before the first `--`, and the command after it. argparse would take options between them."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def make_parser(*, is_lazy: bool = False) -> argparse.ArgumentParser:
    """Return the parser. Its help fits a screen: `-h` and `--version` are in the line of the usage alone.

    With `is_lazy`, each command declares its arguments when it is given.
    """
    width = max(map(len, _COMMANDS))
    parser = _ScreenParser(
        prog="frepo-client",
        usage="frepo-client [-h] [--version] [OPTION ...] COMMAND ...",
        description="Back up to a frepo, and restore from it. A dump that failed is never a backup.",
        epilog="\n".join(["commands:", *(f"  {name:{width}}  {text}" for name, text in _COMMANDS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    parser.add_argument("--version", action="version", version=f"frepo-client {__version__}", help=argparse.SUPPRESS)
    parser.add_argument("--config", metavar="FILE", help="default: frepo-client.toml in ~/.config or /etc")
    parser.add_argument("--url", metavar="URL", help="the server, instead of [server] url and FREPO_URL")
    parser.add_argument("--token-file", metavar="FILE", help="the file with the token, or FREPO_TOKEN_FILE")
    parser.add_argument("--retry", metavar="TIME", help="try again so long if no answer comes, default: 6h")
    parser.add_argument("--json", action="store_true", help="print results as one line of JSON each")
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    commands = parser.add_subparsers(
        prog="frepo-client", metavar="COMMAND", required=True, help=argparse.SUPPRESS, parser_class=_CommandParser
    )
    for name, text in _COMMANDS.items():
        command = commands.add_parser(name, description=f"{text[0].upper()}{text[1:]}.")
        command.name = name
        if not is_lazy:
            command.declare_arguments()
    return parser


class _ScreenParser(argparse.ArgumentParser):
    """The parser of the command line, whose help fits a screen of 24 lines: only one of them is empty."""

    def format_help(self) -> str:
        """Return the help."""
        return super().format_help().replace("\n\ncommands:", "\ncommands:").replace("\n\noptions:", "\noptions:")


class _CommandParser(argparse.ArgumentParser):
    """The parser of one command, which imports its module when the command is given.

    Python compiles the modules of the one file at each start. All commands would take a third of that time.
    """

    name = ""

    def declare_arguments(self) -> None:
        """Import the module of the command, which declares its arguments, once."""
        if self.get_default("module") is None:
            module = import_module(f"{__package__}.commands.{self.name}")
            module.add_arguments(self)
            self.set_defaults(module=module)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Declare the arguments, and parse them."""
        self.declare_arguments()
        return super().parse_known_args(args, namespace)


if __name__ == "__main__":
    sys.exit(main())
