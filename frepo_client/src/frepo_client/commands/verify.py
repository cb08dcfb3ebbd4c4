"""`frepo-client verify`: a restore test on this machine."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import (
    COMMAND_FAILED,
    STORED,
    CommandFailedError,
    NothingKnownError,
    RefusedError,
    UsageError,
)
from ..restores.pull import Decoding, Pull
from .context import Context

_Commands = tuple[Sequence[Sequence[str]], Mapping[str, str]]  # stages, and variables for them


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("collection", metavar="COLLECTION", help="the name or the id")
    parser.add_argument("selector", nargs="?", default="good", metavar="SELECTOR", help="default: good")
    parser.add_argument("--with", dest="with_command", action="store_true", help="send it to the command behind --")
    parser.add_argument("--identity", action="append", metavar="FILE", help="a key of age")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Restore a version, compare its digest, and tell the server the outcome.

    Without --with, the commands are `restore_test` of the job of this collection; without that, the version is read.
    """
    if arguments.with_command != bool(arguments.command):
        raise UsageError("write --with -- COMMAND, such as: --with -- psql scratch")
    api = context.api()
    stages, environment = _restore_test(context, api.collection(arguments.collection))
    if arguments.command:
        stages = [arguments.command]
    pull = Pull(api, context.reporter, Decoding(identities=arguments.identity or context.options.identity))
    version = pull.find(arguments.collection, arguments.selector)
    try:
        if stages:
            pull.into_stages(arguments.collection, version, stages, environment)
        else:
            pull.discard(arguments.collection, version)
        outcome, message, status = "good", "restored", STORED
    except NothingKnownError:
        raise  # nor is anything known if other bytes arrived than were stored
    except CommandFailedError as error:
        outcome, message, status = "broken", str(error), COMMAND_FAILED
    path = f"/api/v1/collections/{api.collection_id(arguments.collection)}/versions/v{version['number']}/checks"
    values = {"name": "restore (client)", "outcome": outcome, "message": context.reporter.masked(message)}
    with contextlib.suppress(RefusedError):  # a token that may read only still gets its exit status
        api.post(path, values)
    text = f"{arguments.collection}: version {version['number']} of {version['created_at']}: {message}"
    context.reporter.result(text, {**version, "outcome": outcome, "message": message})
    return status


def _restore_test(context: Context, collection: Mapping[str, Any]) -> _Commands:
    """Return `restore_test` of the job of a collection, and the variables of its env_file, which --with gets, too."""
    for job in context.configuration.jobs.values():
        if job.collection in (collection["id"], collection["name"]):
            environment = job.environment()
            context.reporter.hide(environment.values())
            return job.restore_test, environment
    return (), {}
