"""The command `frepo restore`: gives back a version by the words of who needs it."""

import argparse
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from frepo_core.cli.columns import Moment, Size
from frepo_core.cli.tables import ListCommand, Rows
from frepo_core.cli.transfers.downloading import add_target
from frepo_core.cli.transfers.streams import STDIO, TransferBar, copy, target
from frepo_core.domain.saved_names import saved_name
from frepo_core.errors import FieldsError, FrepoError

from .found_versions import check_download, describe
from .loading_lines import HEAD, loading_line
from .restorables import Restorable, Restorables, Source

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

COLUMNS = ("Name", "Newest good", "Time", "Size", "In trash", "Deleted", "Collection")
LISTED = 200
AMBIGUOUS = 2


class Restore(ListCommand):
    """Restore a backup into a file, or to stdout with -: the newest good one, or the one that you name.

    It is found wherever it is: in the collection, in quarantine, in the trash, in a deleted collection. Nothing is
    changed there. Without a name, list what can be restored, newest first.
    """

    long = frozenset({"Deleted", "Collection"})
    nothing = "Nothing can be restored yet: no collection has a version."
    examples = (
        "frepo restore shop.sql",
        "frepo restore shop.sql --version 7 --output shop-7.sql",
        "frepo restore shop.sql --at 2026-11-20 --output - | psql shop",
        "frepo restore shop.sql --table orders",
        "frepo restore etc.tar --path etc/nginx/",
        "frepo restore",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", help="the name or the id of the collection, also of a deleted one")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--version", metavar="NUMBER", help="the version with this number, such as 7 or v7")
        which.add_argument("--at", metavar="TIME", help="the version that was the newest then, such as 2026-11-20")
        part = parser.add_mutually_exclusive_group()
        part.add_argument("--table", metavar="NAME", help="only this table of a dump, as SQL for an empty database")
        part.add_argument("--path", metavar="PATH", help="only this file or folder of an archive, into a new folder")
        add_target(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask about a version that is not good")

    def run(self, arguments: argparse.Namespace) -> int:
        """List what there is, or restore one."""
        if arguments.name is None:
            for option in ("version", "at", "table", "path", "output"):
                if getattr(arguments, option):
                    raise FieldsError({f"--{option}": ["name the collection, too: frepo restore NAME"]})
            return int(super().run(arguments))
        services = self.services()
        sources = Restorables(services.database).sources(arguments.name)
        if not sources:
            remedy = "`frepo restore` lists what can be restored"
            raise FieldsError({"name": [f"nothing is called {arguments.name!r}"]}, remedy=remedy)
        if len(sources) > 1:
            return self._list_ambiguous(arguments.name, sources)
        self._restore(services, sources[0], arguments)
        return 0

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each collection of which something can be restored."""
        found = Restorables(self.services().database).summaries(LISTED)
        return COLUMNS, [
            (
                one.source.name,
                f"v{one.number}" if one.number is not None else "",
                Moment(one.created_at),
                Size(one.size) if one.size is not None else "",
                one.in_trash,
                Moment(one.source.deleted_at),
                one.source.id,
            )
            for one in found
        ]

    def _list_ambiguous(self, name: str, sources: Sequence[Source]) -> int:
        self.app.stderr.write(f"{len(sources)} collections are called {name!r}. Give the id of one:\n")
        for one in sources:
            deleted = f", deleted on {one.deleted_at:%Y-%m-%d %H:%M} UTC" if one.deleted_at else ""
            self.app.stderr.write(f"  frepo restore {one.id if one.deleted_at is None else one.incarnation}{deleted}\n")
        return AMBIGUOUS

    def _restore(self, services: "Services", source: Source, arguments: argparse.Namespace) -> None:
        found = self._find(services, source, arguments)
        self._confirm(found, arguments)
        is_usual = found.is_good and found.place == "collection" and not self.app.stderr.isatty()
        if arguments.output == STDIO and not is_usual:
            self.app.stderr.write(f"{describe(found)}\n")
        if arguments.table or arguments.path:
            from .parts import restore_part  # local, because it is seldom needed

            restore_part(self, services, found, arguments)
        else:
            self._copy(services, found, arguments)

    def _find(self, services: "Services", source: Source, arguments: argparse.Namespace) -> Restorable:
        restorables = Restorables(services.database)
        if arguments.version is not None:
            return restorables.find(source, number=_number(arguments.version))
        if arguments.at is not None:
            before, note = parse_moment(arguments.at)
            if note:
                self.app.stderr.write(f"{note}\n")
            return restorables.find(source, before=before)
        found = restorables.find(source)
        if newer := restorables.newer(found):
            self.app.stderr.write(
                f"A newer one is left out: {describe(newer)}. Take it with --version {newer.number}\n"
            )
        return found

    def _confirm(self, found: Restorable, arguments: argparse.Namespace) -> None:
        """Ask about a version that is not good. Raises `FrepoError` if the answer is not yes."""
        if found.is_good or found.file.blob.is_damaged:  # damaged bytes are refused by the download
            return
        reason = f": {found.verdict_reason}" if found.verdict_reason else ""
        question = f"{describe(found)}{reason}. Restore it all the same?"
        if not arguments.yes and not self.confirms(question):
            raise FrepoError("Nothing was restored.")

    def _copy(self, services: "Services", found: Restorable, arguments: argparse.Namespace) -> None:
        from frepo_core.services.events.actors import console_identity

        file = found.file
        check_download(services, file)
        name = arguments.output or saved_name(file.requested_name, file.blob.mime)
        with services.stored_content.open(file.blob) as content, target(name, replaces=arguments.force) as output:
            services.download_events.record(file, by=console_identity(), address="")
            with TransferBar("restore", file.blob.size, self.app.stderr) as bar:
                copy(content, output, bar)
        if name != STDIO:
            with Path(name).open("rb") as restored:
                head = restored.read(HEAD)
            self.say(describe(found))
            self.say(f"Restored {name}, {Size(file.blob.size).human_readable()}, SHA-256 {file.blob.digest}")
            if line := loading_line(head, name):
                self.say(f"Load it: {line}")


def _number(text: str) -> int:
    digits = text[1:] if text[:1] in {"v", "V"} else text
    if not digits.isdecimal() or len(digits) > 18:
        raise FieldsError({"--version": [f"{text!r} is no number of a version, such as 7 or v7"]})
    return int(digits)


def parse_moment(text: str) -> tuple[datetime, str]:
    """Return the first moment after a day or a time (aware), and a sentence about the zone that was taken, or "".

    Raises `FieldsError` for `--at`.
    """
    try:
        start = datetime.fromisoformat(text)
    except ValueError:
        problem = f"{text!r} is no day or time: write 2026-11-20, '2026-11-20 14:03' or 2026-11-20T14:03:00+01:00"
        raise FieldsError({"--at": [problem]}) from None
    is_day = len(text.strip()) == len("2026-11-20") and "T" not in text
    length = timedelta(days=1) if is_day else timedelta(seconds=1) if text.count(":") > 1 else timedelta(minutes=1)
    end = start + length
    if end.tzinfo is not None:
        return end, ""
    end = end.astimezone()
    what = "The end of that day" if is_day else "The time"
    return (
        end,
        f"{what} is taken in the zone of this host, {end:%Z (UTC%z)}. Write the time with its zone for another one",
    )
