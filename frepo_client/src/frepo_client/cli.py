"""The command line."""

from __future__ import annotations

import argparse
import sys
from typing import Sequence

from . import __version__
from .commands import check, enroll, pipe, pull, push, run, schedule, status, token, verify
from .commands.context import Context
from .errors import COMMAND_FAILED, ClientError
from .interrupts import handle_signals
from .reporter import Reporter

_COMMANDS = {
    "enroll": (enroll, "get this machine's token for a one-time code"),
    "run": (run, "make the backups of the configuration"),
    "pipe": (pipe, "store what a command prints, if it ends well"),
    "push": (push, "store a file"),
    "pull": (pull, "get a version, into a file or a command"),
    "verify": (verify, "test on this machine whether a version can be restored"),
    "check": (check, "try everything but the dump"),
    "schedule": (schedule, "start the backups each night"),
    "status": (status, "say how the own collections are"),
    "token": (token, "replace the token"),
}


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    words, command = split_command(sys.argv[1:] if words is None else words)
    arguments = _parser().parse_args(words)
    arguments.command = command
    handle_signals()
    try:
        return int(arguments.module.run(Context.of(arguments), arguments))
    except ClientError as error:
        values = {"error": str(error), "status": error.status}
        Reporter(as_json=arguments.json, quiet=arguments.quiet).fail(str(error), values)
        return status.fail(str(error)) if arguments.module is status else error.status
    except KeyboardInterrupt:
        Reporter().fail("ended; nothing that was not complete is stored")
        return 130
    except BrokenPipeError:
        return 141
    except OSError as error:  # such as a full disk
        Reporter().fail(f"{error.filename or 'this machine'}: {error.strerror or error}")
        return COMMAND_FAILED


def split_command(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return what is before the first `--`, and the command after it. argparse would take options between them."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="frepo-client",
        description="Back up to a frepo, and restore from it. A dump that failed is never a backup.",
        epilog="The configuration is frepo-client.toml in ~/.config or /etc. Without one, use --url and --token-file.",
    )
    parser.add_argument("--version", action="version", version=f"frepo-client {__version__}")
    parser.add_argument("--config", metavar="FILE", help="the configuration")
    parser.add_argument("--url", help="the server, https://files.example.org; or the variable FREPO_URL")
    parser.add_argument(
        "--token-file", metavar="FILE", help="the file with the token; or the variable FREPO_TOKEN_FILE"
    )
    parser.add_argument("--retry", metavar="TIME", help="how long to try again if the server does not answer, 6h")
    parser.add_argument("--json", action="store_true", help="print results as one line of JSON each")
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (module, text) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=(module.__doc__ or "").split(": ", 1)[-1])
        module.add_arguments(command)
        command.set_defaults(module=module)
    return parser


if __name__ == "__main__":
    sys.exit(main())
