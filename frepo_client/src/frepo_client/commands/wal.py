"""`frepo-client wal`: the archive of a PostgreSQL, as its archive_command and its restore_command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Callable

from ..errors import STORED, UsageError
from ..uploads.pipe import Dump, Pipe
from ..uploads.wire import CHOICES
from ..wal.fetch import Fetch
from ..wal.prefetch import prefetch
from ..wal.push import push
from .context import Context

# PostgreSQL takes 1 to 125 of its restore_command for the end of the archive, promotes, and is wrong for ever.
MISSING = 1
_FATAL = 128
_PATIENCE = 600.0
_BASE = ["pg_basebackup", "-D", "-", "-F", "tar", "-X", "none", "--manifest-checksums=SHA256", "-c", "fast", "-w"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(
        metavar="ACTION",
        required=True,
        dest="action",
        parser_class=argparse.ArgumentParser,
        help="push, fetch or base; each has a --help of its own",
    )
    sends = actions.add_parser("push", description="Store a file of the WAL: archive_command = '... wal push %p %f'.")
    sends.add_argument("path", metavar="PATH", help="%%p")
    sends.add_argument("name", metavar="NAME", help="%%f")
    sends.add_argument("--content-encoding", choices=CHOICES, default="none", help="compress on the way")
    gets = actions.add_parser("fetch", description="Get a file of the WAL: restore_command = '... wal fetch %f %p'.")
    gets.add_argument("name", metavar="NAME", help="%%f")
    gets.add_argument("path", metavar="PATH", help="%%p")
    gets.add_argument("--prefetch", type=int, default=8, metavar="N", help="get so many in advance; default: 8")
    base = actions.add_parser("base", description="Make a base backup. Options of pg_basebackup are behind --.")
    for each in (sends, gets, base):
        each.add_argument("--collection", required=True, metavar="COLLECTION", help="the name or the id")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Push, fetch, or make a base backup."""
    if arguments.action == "base":
        return _make_base(context, arguments)
    if arguments.command:
        raise UsageError("only `wal base` takes options behind --")
    if arguments.action == "push":
        api = replace(context, options=context.options_with(arguments.content_encoding)).api_now()
        push(api, arguments.collection, arguments.path, arguments.name)
        return STORED
    api = context.api(replace(context.options, retry=min(context.options.retry, _PATIENCE)))
    fetch = Fetch(api, arguments.collection, os.path.dirname(arguments.path))
    size = fetch.into(arguments.name, arguments.path)
    if size is None:
        context.reporter.say(f"the archive has no {arguments.name}")
        return MISSING
    prefetch(fetch, arguments.name, size, arguments.prefetch)
    return STORED


def run_for_postgresql(run: Callable[[], int], words: Sequence[str]) -> int:
    """Return the exit status of a command line: of a fetch, 1 if the archive lacks the file, above 125 for all else."""
    if "fetch" not in words:
        return run()
    try:
        status = run()
    except SystemExit as error:  # of a wrong command line
        status = error.code if isinstance(error.code, int) else _FATAL
    except Exception as error:  # noqa: BLE001 - Python would end with 1
        print(f"this should not happen: {type(error).__name__}", file=sys.stderr)
        status = _FATAL
    return status + _FATAL if MISSING < status < _FATAL else status


def _make_base(context: Context, arguments: argparse.Namespace) -> int:
    dump = Dump(collection=arguments.collection, stages=[[*_BASE, *arguments.command]])
    outcome = Pipe(context.api(), context.reporter).send(dump)
    context.reporter.stored(outcome.describe(arguments.collection), outcome.version)
    return outcome.status(strict=False)
