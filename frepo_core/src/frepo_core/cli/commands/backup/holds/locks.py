"""The command that locks the versions of a collection."""

import argparse
from datetime import timedelta

from frepo_core.domain.backups.locks import LONGEST
from frepo_core.domain.durations import format_duration, parse_any_duration
from frepo_core.errors import FieldsError

from ....outcomes import ActionCommand, Outcome


class Lock(ActionCommand):
    """Lock the versions of a collection: nobody can remove one that is younger, administrators included.

    The lock can be extended, never shortened or removed. Without --yes it asks.
    """

    examples = ("frepo backup:lock shop.sql 30d",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("time", help="for how long each version is locked, e.g. 30d")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Ask, and lock. Raises `FrepoError` if the answer is not yes."""
        from frepo_core.services.backups.rows.collection_change import CollectionChange
        from frepo_core.services.events.actors import console_identity

        services = self.services()
        collection, length = services.collections.find(arguments.id), _parse(arguments.time)
        shown = format_duration(length)
        text = f"Lock each version of {collection.filename} for {shown}? Nobody can shorten or remove this lock."
        self.require_yes(text, given=arguments.yes)
        change = CollectionChange(limits={}, locked=length)
        edited = services.collections.edit(collection.id, change, by=console_identity())
        upcoming = edited.next_upload.refusal() if edited.next_upload else None
        text = f"Locked each version of {collection.id} for {shown}"
        record = {
            "collection": collection.id,
            "name": collection.filename,
            "locked": shown,
            "next_upload_refused": upcoming,
        }
        return Outcome(
            text=f"{text}. The next upload would be refused: {upcoming}" if upcoming else text, records=[record]
        )


def _parse(text: str) -> timedelta:
    try:
        length = parse_any_duration(text)
    except ValueError as error:
        raise FieldsError({"time": [str(error)]}) from None
    if not timedelta(seconds=1) <= length <= LONGEST:
        raise FieldsError({"time": [f"must be at least 1s and at most {LONGEST.days}d"]})
    return length
