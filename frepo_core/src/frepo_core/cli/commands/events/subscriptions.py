"""Commands for the subscriptions: how far each subscriber has come, and the end of one."""

import argparse
from typing import Any

from frepo_core.errors import FieldsError

from ...columns import Moment
from ...tables import ListCommand, ShowCommand

COLUMNS = ("Subscriber", "Package", "Position", "Behind", "Parked", "Tries", "Next try", "Error")


class Subscriptions(ListCommand):
    """List the subscriptions: the position of each, and how many events it is behind."""

    long = frozenset({"Package", "Position"})
    nothing = "There are no subscriptions."
    examples = ("frepo events:subscriptions",)

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        from frepo_core.services.events.subscriptions import list_subscriptions

        services = self.services()
        origins = {name: owned.plugin.origin for name, owned in services.plugins.subscribers.items()}
        return COLUMNS, [
            (
                *(each.name, origins.get(each.name), each.position, each.behind, each.parked, each.tries),
                *(Moment(each.next_at), each.error),
            )
            for each in list_subscriptions(services.database)
        ]


class Unsubscribe(ShowCommand):
    """End the subscription of a subscriber that does not exist any more. What it had not got is lost for it."""

    examples = ("frepo events:unsubscribe notify_ops",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="see `frepo events:subscriptions`")
        parser.add_argument(
            "--force", action="store_true", help="also if it exists; it begins anew when a process starts again"
        )

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        """Delete the subscription; return what is lost."""
        from frepo_core.services.events.subscriptions import delete_subscription, find_subscription

        services = self.services()
        found = find_subscription(services.database, arguments.name)
        if (owned := services.plugins.subscribers.get(found.name)) and not arguments.force:
            message = (
                f"is required: {owned.plugin.origin} has the subscriber {found.name!r}. {found.behind} events that it "
                f"has not got and {found.parked} parked ones would be lost for it"
            )
            raise FieldsError({"--force": [message]})
        delete_subscription(services.database, found.name)
        return ("subscriber", "undelivered", "parked"), (found.name, found.behind, found.parked)
