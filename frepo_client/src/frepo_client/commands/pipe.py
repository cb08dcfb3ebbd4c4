"""`frepo-client pipe`: store what a command prints."""

from __future__ import annotations

import argparse

from ..configuration.encoding import encoding_stages
from ..configuration.values import duration
from ..stages import split_stages
from ..uploads.pipe import Dump, Pipe
from .context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("collection", metavar="COLLECTION", help="the name or the id")
    parser.add_argument("--timeout", type=duration, metavar="TIME", help="stop the command after 2h, for example")
    parser.add_argument("--strict", action="store_true", help="exit status 10 if nothing is known about the content")
    parser.epilog = "The command is behind --, its stages are between :::, such as: -- pg_dump shop ::: zstd -3"


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Run the stages; a version is stored only if each ended with 0."""
    options = context.options
    stages = split_stages(arguments.command)
    dump = Dump(
        collection=arguments.collection,
        stages=[*stages, *encoding_stages(options.compress, options.encrypt, "[defaults]")],
        timeout=arguments.timeout,
        plain=len(stages) if options.encrypt else 0,
    )
    outcome = Pipe(context.api(), context.reporter).send(dump)
    context.reporter.result(outcome.describe(arguments.collection), outcome.version)
    return outcome.status(strict=arguments.strict)
