"""`frepo-client pipe`: store what a command prints."""

from __future__ import annotations

import argparse

from ..configuration.encoding import encoding_stages
from ..configuration.file import TWENTY_HOURS
from ..configuration.values import duration
from ..errors import CommandFailedError
from ..stages import split_stages
from ..state import locked
from ..uploads.pipe import Dump, Pipe
from ..uploads.wire import CHOICES
from .context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("collection", metavar="COLLECTION", help="the name or the id")
    parser.add_argument(
        "--timeout", type=duration, default=TWENTY_HOURS, metavar="TIME", help="stop the command then; default: 20h"
    )
    parser.add_argument(
        "--content-encoding", choices=CHOICES, help="compress on the way; default: auto, if the service undoes it"
    )
    parser.add_argument("--strict", action="store_true", help="exit status 10 if nothing is known about the content")
    parser.epilog = "The command is behind --, its stages are between :::, such as: -- pg_dump shop ::: age -r age1..."


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Run the stages; a version is stored only if each ended with 0."""
    options = context.options_with(arguments.content_encoding)
    stages = split_stages(arguments.command)
    dump = Dump(
        collection=arguments.collection,
        stages=[*stages, *encoding_stages(options.compress, options.encrypt, "[defaults]")],
        timeout=arguments.timeout,
        plain=len(stages) if options.encrypt else 0,
    )
    with locked(f"{context.url} pipe {arguments.collection}", context.reporter.fail) as is_free:
        if not is_free:
            raise CommandFailedError(
                f"another pipe to {arguments.collection} still runs on this machine; the command was not started"
            )
        outcome = Pipe(context.api(options), context.reporter).send(dump)
    context.reporter.stored(outcome.describe(arguments.collection), outcome.version)
    return outcome.status(strict=arguments.strict)
