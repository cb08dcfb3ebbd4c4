"""Commands that put collections on hold, end their holds, and list them."""

import argparse
from typing import TYPE_CHECKING, Any

from ....columns import Moment, Size, held_fields
from ....outcomes import ActionCommand, Outcome
from ....tables import ListCommand, Rows

if TYPE_CHECKING:
    from frepo_core.services.base.records import CollectionRecord

COLUMNS = ("Collection", "Name", "Since", "By", "Reason", "Versions", "Size")


class Hold(ActionCommand):
    """Put a collection on hold: nothing leaves it, whatever limits and strategy say, until somebody ends the hold.

    Of a collection that is on hold, change the reason.
    """

    examples = ("frepo backup:hold shop.sql --reason 'audit of 2026, case 4711'",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("--reason", metavar="TEXT", required=True, help="why; it is shown where the hold prevents")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        services = self.services()
        held = services.holds.set(services.collections.find(arguments.id).id, arguments.reason, by=None)
        return _outcome(f"On hold: {held.id}. Nothing leaves it until `frepo backup:end-hold` ends that", held)


class EndHold(ActionCommand):
    """End the hold of a collection: limits, strategy and trash go on as before. Without --yes it asks.

    What is in its trash stays there for the whole time of the trash from now on.
    """

    examples = ("frepo backup:end-hold shop.sql --yes",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Ask, and end it. Raises `FrepoError` if the answer is not yes."""
        services = self.services()
        collection = services.collections.find(arguments.id)
        if collection.hold is None:
            return _outcome(f"{collection.id} is not on hold", collection)
        self.require_yes(f"{collection.hold.sentence}. End the hold of {collection.filename}?", given=arguments.yes)
        return _outcome(f"Ended the hold of {collection.id}", services.holds.end(collection.id, by=None))


class Holds(ListCommand):
    """List the collections on hold: since when, who has set the hold, and why."""

    long = frozenset({"Collection", "Versions", "Size"})
    nothing = "No collection is on hold."
    examples = ("frepo backup:holds", "frepo backup:holds -f json")

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each collection on hold, by name."""
        return COLUMNS, [_row(one) for one in self.services().holds.list()]


def _row(one: "CollectionRecord") -> tuple[Any, ...]:
    since, by, reason = (one.hold.since, one.hold.by, one.hold.reason) if one.hold else (None, "", "")
    return (one.id, one.filename, Moment(since), by, reason, one.versions_count, Size(one.stored_size))


def _outcome(text: str, collection: "CollectionRecord") -> Outcome:
    record = {"collection": collection.id, "name": collection.filename, **held_fields(collection.hold)}
    return Outcome(text=text, records=[record])
