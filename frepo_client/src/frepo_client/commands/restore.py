"""`frepo-client restore`: give the backup of a job back."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import Any

from ..errors import STORED, RefusedError, UsageError
from ..restores.loading_lines import HEAD, loading_line
from ..restores.pull import Decoding, Pull
from .context import Context, as_header
from .pull import file_name

NEEDED_TOKEN = (
    "a token of cron may only upload. This needs one that may list and download the versions of the collection, with "
    "the role collections.list_versions_for_allowed_collections: write it into a file, and name that: --token-file FILE"
)
_NO_ACCESS = {401, 403}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("job", metavar="JOB", help="a job of the configuration, or a collection by its name or id")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--version", metavar="NUMBER", help="the version with this number; default: the newest good one")
    which.add_argument("--at", metavar="DAY", help="the newest version at the end of a day in UTC, such as 2026-11-20")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: the name of the version; - is standard output")
    parser.add_argument("--raw", action="store_true", help="leave encryption and compression as they are")
    parser.add_argument("--identity", action="append", metavar="FILE", help="a key of age")
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="the file with a token that may download; without it, a terminal is asked",
    )


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Download the version of a job, compare its digest, and say how to load it."""
    job = context.configuration.jobs.get(arguments.job)
    collection = job.collection if job else arguments.job
    of_job = job.options.identity if job else context.options.identity
    decoding = Decoding(raw=arguments.raw, identities=arguments.identity or of_job)
    pull, version = _find(context, collection, _selector(arguments), decoding)
    text = f"{collection}: version {version['number']} of {version['created_at']}"
    if version.get("quarantined") or version.get("verdict") in {"broken", "suspicious"}:
        context.reporter.fail(f"{text} is {version['verdict']}: {version.get('verdict_reason')}")
    if arguments.output == "-":
        pull.to_output(collection, version)
        return STORED
    path = arguments.output or file_name(version)
    pull.into_file(collection, version, path)
    with open(path, "rb") as file:
        line = loading_line(file.read(HEAD), path)
    context.reporter.result(f"{text} is in {path}, its digest is right", {**version, "file": path, "load": line})
    if line:
        context.reporter.say(f"load it: {line}")
    return STORED


def _selector(arguments: argparse.Namespace) -> str:
    if arguments.version is None:
        return str(arguments.at or "good")
    number = str(arguments.version)
    return number if number.startswith("v") else f"v{number}"


def _find(context: Context, collection: str, selector: str, decoding: Decoding) -> tuple[Pull, dict[str, Any]]:
    """Return the version, and what downloads it. A terminal is asked for another token if this one may not.

    Raises `RefusedError`, which says which token is needed.
    """
    if context.token:
        try:
            return _find_with(context, collection, selector, decoding)
        except RefusedError as error:
            if error.http_status not in _NO_ACCESS:
                raise
            problem = str(error)
    else:
        problem = "there is no token"
    if not sys.stdin.isatty():
        raise RefusedError(f"{problem}: {NEEDED_TOKEN}", 403)
    context.reporter.say(f"{problem}; a token that may list and download the versions of the collection is needed")
    token = as_header(getpass.getpass("Token: ").strip(), "what was typed")
    if not token:
        raise UsageError(f"no token was typed: {NEEDED_TOKEN}")
    context.reporter.hide([token])
    return _find_with(context.with_token(token), collection, selector, decoding)


def _find_with(context: Context, collection: str, selector: str, decoding: Decoding) -> tuple[Pull, dict[str, Any]]:
    pull = Pull(context.api(), context.reporter, decoding)
    return pull, pull.find(collection, selector)
