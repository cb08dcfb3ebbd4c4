"""The command line."""

from __future__ import annotations

import argparse
import sys
from typing import Sequence

from . import __version__
from .commands import check, enroll, pipe, pull, push, run, schedule, spool, status, token, verify
from .commands.context import Context
from .errors import COMMAND_FAILED, ClientError
from .interrupts import handle_signals
from .reporter import Reporter
from .texts import plain_error

_COMMANDS = {
    "enroll": (enroll, "get the token and the configuration for a one-time code"),
    "run": (run, "make the backups of the configuration"),
    "pipe": (pipe, "store what a command prints, if it ends well"),
    "push": (push, "store a file"),
    "pull": (pull, "get a version, into a file or a command"),
    "verify": (verify, "test on this machine whether a version can be restored"),
    "check": (check, "try everything but the dumps"),
    "schedule": (schedule, "write what starts the backups each night"),
    "spool": (spool, "list or delete the dumps that wait for the service"),
    "status": (status, "print the states of the collections"),
    "token": (token, "replace the token of this machine by a new one"),
}


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    words, command = split_command(sys.argv[1:] if words is None else words)
    arguments = make_parser().parse_args(words)
    arguments.command = command
    reporter = Reporter(as_json=arguments.json, quiet=arguments.quiet)
    handle_signals()
    try:
        return int(arguments.module.run(Context.of(arguments, reporter), arguments))
    except ClientError as error:
        reporter.fail(str(error), {"error": str(error), "status": error.status})
        return status.fail(reporter.shown(str(error))) if arguments.module is status else error.status
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


def make_parser() -> argparse.ArgumentParser:
    """Return the parser. Its help fits a screen: `-h` and `--version` are in the line of the usage alone."""
    width = max(map(len, _COMMANDS))
    parser = argparse.ArgumentParser(
        prog="frepo-client",
        usage="frepo-client [-h] [--version] [OPTION ...] COMMAND ...",
        description="Back up to a frepo, and restore from it. A dump that failed is never a backup.",
        epilog="\n".join(["commands:", *(f"  {name:{width}}  {text}" for name, (_, text) in _COMMANDS.items())]),
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
    commands = parser.add_subparsers(prog="frepo-client", metavar="COMMAND", required=True, help=argparse.SUPPRESS)
    for name, (module, text) in _COMMANDS.items():
        command = commands.add_parser(name, description=f"{text[0].upper()}{text[1:]}.")
        module.add_arguments(command)
        command.set_defaults(module=module)
    return parser


if __name__ == "__main__":
    sys.exit(main())
