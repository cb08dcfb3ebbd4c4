"""The command that makes a database the only owner of a storage."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from frepo_core.domain.sizes import readable_size

from ...base import FrepoCommand
from ...progress import ProgressBar, ProgressLine

if TYPE_CHECKING:
    from frepo_core.services.upkeep.storage import Comparison


class Adopt(FrepoCommand):
    """Make this database the only owner of a storage, after a restore or a second service on it."""

    examples = ("frepo storage:adopt",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--storage", metavar="NAME", help="default: the storage for new blobs")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Show both sides, ask, and adopt. Raises `FrepoError` if the answer is not yes."""
        from frepo_core.services.upkeep.reconcile.reconciliation import reconcile_storage
        from frepo_core.services.upkeep.storage import Ownership, compare

        services = self.services()
        storage = arguments.storage or services.backends.current
        services.backends.check_name(storage)
        with ProgressBar("adopt") as progress:
            sides = compare(services.database, services.backends, storage=storage, progress=progress)
        for line in _describe(sides, storage, services.database.name):
            self.say(line)
        if sides.problem is None and not sides.older:
            self.say("Nothing needs to be accepted: no other database has marked this storage.")
            return
        question = f"Shall this database be the only owner of the storage {storage!r}?"
        self.require_yes(question, given=arguments.yes)
        mark = Ownership(services.database, services.backends).adopt(storage)
        self.say(f"The storage {storage!r} belongs to this database now, with the epoch {mark.epoch}.")
        with ProgressLine("reconcile") as notes:
            done = reconcile_storage(services.database, services.backends, storage, notes=notes)
        self.say(
            f"{done.found} objects in it had no record, and {done.missing} records have no bytes in it. "
            f"{done.current} contents are read from what was found."
        )


def _describe(sides: "Comparison", storage: str, database: str) -> Iterator[str]:
    """Yield the lines that show both sides."""
    epoch = f"epoch {sides.mark.epoch}" if sides.mark else "no mark in this storage yet"
    newest = f", the newest of {sides.newest:%Y-%m-%d %H:%M} UTC" if sides.newest else ""
    yield f"Database {database}"
    yield f"  id {sides.database}, {epoch}"
    yield f"  {sides.rows} blobs in this storage{newest}; the bytes of {sides.missing} are missing"
    size = readable_size(sum(stat.size for stat in sides.unknown))
    latest = max((stat.modified for stat in sides.unknown), default=None)
    yield f"Storage {storage!r}"
    for mark, note in zip(sides.marks, sides.notes, strict=True):
        own = "this database" if mark == sides.mark else f"database {mark.database}"
        yield f"  marked by {own}, epoch {mark.epoch}, {note}"
    if not sides.marks:
        yield "  no database has marked it"
    yield f"  {sides.blobs} blobs; {len(sides.unknown)} of them ({size}) are unknown to this database" + (
        f", the newest of {latest:%Y-%m-%d %H:%M} UTC" if latest else ""
    )
    if sides.older:
        older = f"{sides.older} of the unknown ones are older than the first mark of this database"
        yield f"  {older}: the job sweep leaves them"
    if sides.problem:
        yield f"Difference: {sides.problem}."
    if sides.problem:
        yield "If you accept this, the unknown blobs are kept for 30 days, and other databases are refused."
        if sides.unknown:
            yield f"What a restored database lacks is read back afterwards by `frepo recover --merge {storage}`."
    elif sides.older:
        yield "If you accept this, the next sweeps delete the unknown blobs, and refuse other databases."
