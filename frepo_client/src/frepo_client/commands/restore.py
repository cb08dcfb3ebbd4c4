"""`frepo-client restore`: give the backup of a job back, or one table or folder of it."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import Any

from ..errors import STORED, RefusedError, UsageError
from ..private_files import replacing
from ..reporter import size_text
from ..restores.contents import Contents
from ..restores.folder import Folder
from ..restores.loading_lines import HEAD, loading_line
from ..restores.pull import Decoding, Pull
from .context import Context, as_header
from .pull import file_name, plain_name

NEEDED_TOKEN = (
    "a token of cron may only upload. This needs one that may list and download the versions of the collection, with "
    "the role collections.list_versions_for_allowed_collections: write it into a file, and name that: --token-file FILE"
)
_NO_ACCESS = {401, 403}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("job", metavar="JOB", help="a job of the configuration, or a collection")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--version", metavar="NUMBER", help="default: the newest good version")
    which.add_argument("--at", metavar="DAY", help="the newest at the end of a day (UTC), as 2026-11-20")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--table", metavar="NAME", help="only this table of a dump")
    part.add_argument("--path", metavar="PATH", help="only this file or folder of an archive")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: as the version; - is standard output")
    parser.add_argument("--raw", action="store_true", help="leave encryption and compression as they are")
    parser.add_argument("--identity", action="append", metavar="FILE", help="a key of age")
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="with a token that may download; default: you are asked",
    )


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Download the version of a job, compare its digest, and say how to load it."""
    job = context.configuration.jobs.get(arguments.job)
    collection = job.collection if job else arguments.job
    context, version = _find(context, collection, _selector(arguments))
    text = f"{collection}: version {version['number']} of {version['created_at']}"
    if version.get("quarantined") or version.get("verdict") in {"broken", "suspicious"}:
        context.reporter.fail(f"{text} is {version['verdict']}: {version.get('verdict_reason')}")
    if arguments.table or arguments.path:
        contents = Contents(context.api(), context.reporter, collection, version)
        return (_restore_table if arguments.table else _restore_path)(context, contents, text, version, arguments)
    of_job = job.options.identity if job else context.options.identity
    decoding = Decoding(raw=arguments.raw, identities=arguments.identity or of_job)
    pull = Pull(context.api(), context.reporter, decoding)
    if arguments.output == "-":
        pull.to_output(collection, version)
        return STORED
    path = arguments.output or file_name(version)
    pull.into_file(collection, version, path)
    _say_done(context, f"{text} is in {path}, its digest is right", version, path)
    return STORED


def _restore_table(
    context: Context, contents: Contents, text: str, version: dict[str, Any], arguments: argparse.Namespace
) -> int:
    part = contents.table(arguments.table)
    pieces = contents.pieces(part)
    if arguments.output == "-":
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return STORED
    path = arguments.output or plain_name(str(part["name"]).strip("/").replace("/", ".") + ".sql")
    with replacing(path) as file:
        file.writelines(pieces)
    _say_done(context, f"{text}: the table {arguments.table} is in {path}", version, path)
    return STORED


def _restore_path(
    context: Context, contents: Contents, text: str, version: dict[str, Any], arguments: argparse.Namespace
) -> int:
    if arguments.output == "-":
        raise UsageError("--path writes into a folder: name one that does not exist with -o")
    path = arguments.output or file_name(version).partition(".")[0]
    folder = Folder(path)
    folder.write(contents, contents.chosen(arguments.path))
    for one in folder.left_out:
        context.reporter.say(f"left out {one}")
    counts = {"files": folder.files, "folders": folder.folders, "links": folder.links, "left_out": folder.left_out}
    shown = f"{folder.files} files, {folder.links} links, {size_text(folder.size)}"
    context.reporter.result(f"{text}: {shown} are in {path}", {**version, "folder": path, **counts})
    return STORED


def _say_done(context: Context, text: str, version: dict[str, Any], path: str) -> None:
    """Print what is in a file, and how to load it."""
    with open(path, "rb") as file:
        line = loading_line(file.read(HEAD), path)
    context.reporter.result(text, {**version, "file": path, "load": line})
    if line:
        context.reporter.say(f"load it: {line}")


def _selector(arguments: argparse.Namespace) -> str:
    if arguments.version is None:
        return str(arguments.at or "good")
    number = str(arguments.version)
    return number if number.startswith("v") else f"v{number}"


def _find(context: Context, collection: str, selector: str) -> tuple[Context, dict[str, Any]]:
    """Return the version, and the context that may download it. A terminal is asked for another token if needed.

    Raises `RefusedError`, which says which token is needed.
    """
    if context.token:
        try:
            return context, context.api().version(collection, selector)
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
    context = context.with_token(token)
    return context, context.api().version(collection, selector)
