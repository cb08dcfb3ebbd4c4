"""`frepo-client status`: how the own collections are."""

from __future__ import annotations

import argparse
from typing import Any

from .context import Context

OK, WARNING, CRITICAL, UNKNOWN = 0, 1, 2, 3
_STATUS = {
    **dict.fromkeys(("damaged", "overdue", "failed", "full", "problem"), CRITICAL),
    **dict.fromkeys(("suspicious", "late"), WARNING),
    **dict.fromkeys(("new", "ok"), OK),
}
_NAMES = {OK: "OK", WARNING: "WARNING", CRITICAL: "CRITICAL", UNKNOWN: "UNKNOWN"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("collections", nargs="*", metavar="COLLECTION", help="default: all that the token sees")
    parser.add_argument("--nagios", action="store_true", help="one line in front, as a Nagios plug-in prints it")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Print a line for each collection. Exit status 0, 1, 2, or 3 if nothing can be said."""
    api = context.api_now()
    found = [api.collection(name) for name in arguments.collections] or api.collections()
    statuses = [_STATUS.get(str(one.get("state")), UNKNOWN) for one in found]
    status = max(statuses, key=(OK, UNKNOWN, WARNING, CRITICAL).index, default=UNKNOWN)
    if arguments.nagios:
        bad = [str(one["name"]) for one, each in zip(found, statuses) if each]
        line = f"FREPO {_NAMES[status]}: {len(found) - len(bad)} of {len(found)} good" + _list(bad)
        print(context.reporter.shown(line))
    for one in found:
        context.reporter.result(_line(one), one)
    return status


def fail(text: str) -> int:
    """Print that nothing can be said, as a Nagios plug-in does, and return the exit status."""
    print(f"FREPO UNKNOWN: {text}")
    return UNKNOWN


def _list(names: list[str]) -> str:
    return "; " + ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else ""


def _line(collection: dict[str, Any]) -> str:
    good = collection.get("newest_good")
    newest = f"version {good['number']} of {good['at']}" if good else "no good version"
    reason = collection.get("state_reason")
    return f"{collection['name']}: {collection['state']}, {newest}" + (f"; {reason}" if reason else "")
