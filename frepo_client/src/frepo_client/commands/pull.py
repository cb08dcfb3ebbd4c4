"""`frepo-client pull`: get a version."""

from __future__ import annotations

import argparse
import re
from typing import Any

from ..errors import STORED, UsageError
from ..reporter import size_text
from ..restores.pull import Decoding, Pull
from .context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("collection", metavar="COLLECTION", help="the name or the id")
    parser.add_argument(
        "selector",
        nargs="?",
        default="good",
        metavar="SELECTOR",
        help="good, latest, first, v3 or a date; default: good",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="default: the name of the version; - is standard output")
    parser.add_argument("--raw", action="store_true", help="leave encryption and compression as they are")
    parser.add_argument("--identity", action="append", metavar="FILE", help="a key of age")
    parser.add_argument("--into", action="store_true", help="send it to the command behind --, such as: -- psql shop")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Download the version. Another status than 0: do not use what has arrived."""
    if arguments.into != bool(arguments.command) or (arguments.into and arguments.output):
        raise UsageError("write either --output FILE, or --into -- COMMAND")
    decoding = Decoding(raw=arguments.raw, identities=arguments.identity or context.options.identity)
    pull = Pull(context.api(), context.reporter, decoding)
    version = pull.find(arguments.collection, arguments.selector)
    if version.get("quarantined") or version.get("verdict") in {"broken", "suspicious"}:
        context.reporter.fail(f"version {version['number']} is {version['verdict']}: {version.get('verdict_reason')}")
    text = f"{arguments.collection}: version {version['number']} of {version['created_at']}"
    if arguments.into:
        pull.into_stages(arguments.collection, version, [arguments.command])
        # The output of the command is on standard output.
        context.reporter.say(f"{text} is restored, {size_text(version['size'])}")
    elif arguments.output == "-":
        pull.to_output(arguments.collection, version)
    else:
        path = arguments.output or file_name(version)
        pull.into_file(arguments.collection, version, path)
        context.reporter.result(f"{text} is in {path}", version)
    return STORED


def file_name(version: dict[str, Any]) -> str:
    """Return a name for the file, `shop-v3.sql.gz`: the stored one without what makes it unique.

    It is never the path of another folder, nor the name of a hidden file, whatever the server says.
    """
    return plain_name(re.sub(r"^[0-9a-f]{10}", "", str(version["file_name"]))) or f"v{version['number']}"


def plain_name(text: str) -> str:
    """Return a text as the name of a file in this folder, which is not hidden."""
    return re.sub(r"^\.+", "_", re.sub(r"[\x00-\x1f\x7f/\\:]", "_", text))[-200:]
