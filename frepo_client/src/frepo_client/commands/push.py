"""`frepo-client push`: store a file."""

from __future__ import annotations

import argparse
import os

from ..errors import CommandFailedError, UsageError
from ..restores.layers import is_encrypted
from ..state import locked
from ..uploads.push import Push
from ..uploads.wire import CHOICES
from .context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("collection", metavar="COLLECTION", help="the name or the id")
    parser.add_argument("file", metavar="FILE", help="a file that nobody writes to any more")
    parser.add_argument(
        "--content-encoding", choices=CHOICES, help="compress on the way; default: auto, if the service undoes it"
    )
    parser.add_argument("--strict", action="store_true", help="exit status 10 if nothing is known about the content")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Upload the file. Called again after a break, it goes on where it was."""
    if context.options.encrypt and not is_encrypted(arguments.file):
        raise UsageError(
            f"{arguments.file} is not encrypted, and [defaults] has encrypt: push sends a file as it is. Encrypt it "
            f"first, or use: frepo-client pipe {arguments.collection} -- cat {arguments.file}"
        )
    path = os.path.abspath(arguments.file)
    with locked(f"{context.url} push {arguments.collection} {path}", context.reporter.fail) as is_free:
        if not is_free:
            raise CommandFailedError(f"another push of {path} still runs on this machine")
        options = context.options_with(arguments.content_encoding)
        outcome = Push(context.api(options), context.reporter).send(arguments.collection, arguments.file)
    context.reporter.stored(outcome.describe(arguments.collection), outcome.version)
    return outcome.status(strict=arguments.strict)
