"""`frepo-client spool`: the dumps that wait for the server."""

from __future__ import annotations

import argparse

from ..errors import STORED, UsageError
from ..reporter import size_text
from ..uploads.spool import waiting_dumps
from .context import Context

NEEDS_TOKEN = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--delete", metavar="DUMP", action="append", default=[], help="delete this dump; may be repeated"
    )


def run(context: Context, arguments: argparse.Namespace) -> int:
    """List what waits, the oldest first, or delete some of it."""
    jobs = context.configuration.jobs.values()
    folders = sorted({context.options.spool, *(job.options.spool for job in jobs)} - {""})
    if not folders:
        raise UsageError("the configuration has no `spool`, so no dump waits")
    found = {dump.name: dump for folder in folders for dump in waiting_dumps(folder)}
    unknown = [name for name in arguments.delete if name not in found]
    if unknown:
        raise UsageError(f"no dump {unknown[0]!r} waits; `frepo-client spool` lists those that do")
    for name in arguments.delete:
        found[name].delete()
        context.reporter.result(f"{name} is deleted", {"deleted": name})
    if not arguments.delete:
        for dump in found.values():
            values = {"name": dump.name, "collection": dump.collection, "size": dump.size}
            context.reporter.result(f"{dump.name}: {size_text(dump.size)} for {dump.collection or 'nobody'}", values)
        if not found:
            context.reporter.say("no dump waits")
    return STORED
