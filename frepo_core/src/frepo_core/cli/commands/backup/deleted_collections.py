"""Commands that delete collections, and that list, restore and end deleted ones."""

import argparse
from typing import TYPE_CHECKING

from frepo_core.domain.identity import parse_uuid4
from frepo_core.errors import FieldsError

from ...columns import Moment, Size
from ...outcomes import ActionCommand, Outcome
from ...tables import ListCommand, Rows

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

COLUMNS = ("Id", "Name", "Versions", "Size", "Deleted", "By", "Ends", "Incarnation", "Description")
_WHICH = "the id or the name of the collection, or its incarnation if several had it"


class DeleteCollection(ActionCommand):
    """Delete a collection. Until `trash.keep` is over, `frepo backup:restore-collection` restores it."""

    examples = ("frepo backup:delete-collection shop.sql --with-versions --yes",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument(
            "--with-versions", action="store_true", help="move its versions into the trash; default: it must be empty"
        )
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Ask, and delete. Raises `FrepoError` if the answer is not yes."""
        services = self.services()
        collection = services.collections.find(arguments.id)
        shown = f"the collection {collection.id} ({collection.filename}) with {_versions(collection.versions_count)}"
        services.collections.delete(collection.id, with_versions=arguments.with_versions, simulate=True)
        self.require_yes(f"Delete {shown}?", given=arguments.yes)
        services.collections.delete(collection.id, with_versions=arguments.with_versions)
        record = {
            "collection": collection.id,
            "name": collection.filename,
            "versions": collection.versions_count,
            "deleted": True,
        }
        return Outcome(text=f"Deleted {shown}", records=[record])


class ListDeletedCollections(ListCommand):
    """List the deleted collections that can be restored, the last one first."""

    long = frozenset({"Size", "Deleted", "By", "Incarnation", "Description"})
    nothing = "There are no deleted collections that can be restored."
    examples = ("frepo backup:deleted-collections",)

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        return COLUMNS, [
            (
                each.id,
                each.name,
                each.versions,
                Size(each.size),
                Moment(each.deleted_at),
                each.deleted_by,
                Moment(each.ends_at),
                each.incarnation,
                each.description,
            )
            for each in self.services().deleted_collections.list()
        ]


class RestoreCollection(ActionCommand):
    """Restore a deleted collection with its settings, its list of tokens, and its versions."""

    examples = ("frepo backup:restore-collection shop.sql",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help=_WHICH)

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Restore, and say what came back."""
        from frepo_core.services.events.actors import console_identity  # imports the database

        services = self.services()
        _, incarnation = _find(services, arguments.id)
        done = services.deleted_collections.restore(incarnation, by=console_identity())
        text = (
            f"Restored the collection {done.collection.id} ({done.collection.filename}) with {_versions(done.versions)}"
        )
        record = {"collection": done.collection.id, "name": done.collection.filename, "versions": done.versions}
        return Outcome(text=text, records=[record])


class EndDeletedCollection(ActionCommand):
    """Delete a deleted collection for good, with all that is in its trash. Without --yes it asks."""

    examples = ("frepo backup:end-deleted-collection shop.sql --yes",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help=_WHICH)
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Ask, and delete. Raises `FrepoError` if the answer is not yes."""
        from frepo_core.services.events.actors import console_identity  # imports the database

        services = self.services()
        collection, incarnation = _find(services, arguments.id)
        self.require_yes(f"Delete {arguments.id} and what is in its trash for good?", given=arguments.yes)
        ended = services.deleted_collections.end(incarnation, by=console_identity())
        text = f"Deleted {arguments.id} for good, with {_versions(ended)}"
        return Outcome(text=text, records=[{"collection": collection, "deleted_versions": ended}])


def _find(services: "Services", text: str) -> tuple[str, str]:
    """Return the id and the incarnation of the only deleted collection with a name; what is no name stands for both."""
    if parse_uuid4(text.lower()) is not None:
        return text, text
    found = [each for each in services.deleted_collections.list() if each.name == text]
    if len(found) > 1:
        raise FieldsError(
            {"collection": [f"{len(found)} deleted collections are called {text!r}: give the incarnation of one"]},
            remedy="`frepo backup:deleted-collections --long` lists the incarnations",
        )
    return (found[0].id, found[0].incarnation) if found else (text, text)


def _versions(count: int) -> str:
    return f"{count} version{'s' * (count != 1)}"
