"""The command `frepo wal:restore`."""

import argparse
from datetime import datetime
from pathlib import Path

from frepo_core.cli import FrepoCommand
from frepo_core.plugins import ConfigurationError, PluginContext

from .archive import Archive, all_archives
from .bases import Base
from .continuity import Window, choose_base
from .names import segment_name
from .restoring import unpack, write_recovery
from .status import Survey, survey


class Restore(FrepoCommand):
    """Prepare a folder from which PostgreSQL restores itself as it was at a time.

    The base backup is unpacked, and PostgreSQL is told in the folder how to get the segments, and when to stop. It has
    to be of the major version that made the backup.
    """

    examples = ("frepo wal:restore shop --at '2026-11-28 14:03:00+01:00' -o /var/lib/postgresql/15/restored",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Define the arguments."""
        parser.add_argument("name", metavar="NAME", help="name or id of the archive; shop is shop.wal, too")
        parser.add_argument("--at", type=_time, metavar="TIME", help="with a time zone; default: as late as possible")
        parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="new, or empty")
        parser.add_argument("--restore-command", metavar="COMMAND", help="default: frepo-client wal fetch")
        parser.add_argument("--promote", action="store_true", help="end the recovery at once, instead of a pause there")
        parser.add_argument("--dry-run", action="store_true", help="say what is needed, and write nothing")

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Say what is needed, and write it."""
        context = self.plugin_context("wal")
        archive = _find(context, arguments.name)
        found = survey(archive)
        base = _choose(archive, found, arguments.at)
        self.say(_describe(found, base, arguments.at))
        if arguments.dry_run:
            return
        command = arguments.restore_command or f"frepo-client wal fetch %f %p --collection {archive.collection.id}"
        with context.service.open_version(archive.options.base, base.number) as content:
            unpack(content, arguments.output)
        write_recovery(arguments.output, command, arguments.at, is_promoted=arguments.promote)
        self.say(f"{arguments.output} is ready: give it to the user postgres (chown -R), and start the server there")
        self.say("Archiving is off in its postgresql.auto.conf: switch it on when this server is the new primary")


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 2026-11-28 14:03:00+01:00") from None
    if found.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text!r} has no time zone; add +01:00, or +00:00 for UTC")
    return found


def _find(context: PluginContext, name: str) -> Archive:
    archives = [archive for archive, _ in all_archives(context)]
    found = [one for one in archives if name in {one.collection.id, one.collection.name}]
    found = found or [one for one in archives if one.collection.name == f"{name}.wal"]
    if len(found) != 1:
        known = ", ".join(sorted(one.collection.name for one in archives)) or "none"
        problem = f"{len(found)} archives have the name {name!r}; use the id" if found else f"No archive is {name!r}"
        raise ConfigurationError(f"{problem}. There are: {known}")
    return found[0]


def _choose(archive: Archive, found: Survey, at: datetime | None) -> Base:
    """Return the base backup. Raises `ConfigurationError` if the time cannot be reached."""
    base = choose_base(found.segments, found.own_bases, at)
    windows = found.windows
    is_covered = at is None or any(one.since <= at <= one.until for one in windows)
    if base is None or not is_covered:
        spans = "; ".join(map(_span, windows)) or "nothing"
        raise ConfigurationError(
            f"{archive.collection.name} cannot be restored as it was then. What can be restored: {spans}"
        )
    return base


def _span(window: Window) -> str:
    return f"{window.since:%Y-%m-%d %H:%M:%S%z} to {window.until:%Y-%m-%d %H:%M:%S%z}"


def _describe(found: Survey, base: Base, at: datetime | None) -> str:
    first = segment_name(base.timeline, base.start // found.segments.size, found.segments.size)
    until = f"until {at.isoformat(sep=' ')}" if at else "to the end"
    return f"Base backup: version {base.number} of {base.at:%Y-%m-%d %H:%M:%S%z}\nSegments: from {first} on, {until}"
