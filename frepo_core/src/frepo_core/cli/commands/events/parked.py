"""Commands for events that a subscriber could not handle."""

import argparse
from typing import TYPE_CHECKING, Any

from frepo_core.errors import FieldsError

from ...columns import Moment
from ...tables import ListCommand, ShowCommand

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

COLUMNS = ("Event", "Kind", "Subscriber", "Tries", "Parked", "Retry requested", "Error")


class Parked(ListCommand):
    """List the events that a subscriber could not handle in 12 tries over a day."""

    long = frozenset({"Retry requested"})
    nothing = "No event is parked."
    examples = ("frepo events:parked --subscriber notify_ops -f json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--subscriber", metavar="NAME", help="only those of this subscriber")

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        from frepo_core.services.events.parked_events import list_parked

        services = self.services()
        _check_subscriber(services, arguments.subscriber)
        return COLUMNS, [
            (each.id, each.kind, each.subscriber, each.tries, Moment(each.parked_at), Moment(each.retry_at), each.error)
            for each in list_parked(services.database, arguments.subscriber)
        ]


class Retry(ShowCommand):
    """Deliver parked events again. The worker does it within seconds; what fails again stays parked."""

    examples = ("frepo events:retry --all --subscriber notify_ops",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("event", nargs="*", metavar="EVENT", help="numbers of events, see `frepo events:parked`")
        parser.add_argument("--all", action="store_true", help="all parked events")
        parser.add_argument("--subscriber", metavar="NAME", help="only those of this subscriber")

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        from frepo_core.services.events.parked_events import request_retry

        if bool(arguments.event) == arguments.all:
            raise FieldsError({"all": ["name events by their numbers, or write --all"]})
        ids = [_number(text) for text in arguments.event]
        services = self.services()
        _check_subscriber(services, arguments.subscriber)
        return ("requested",), (request_retry(services.database, ids, arguments.subscriber),)


def _check_subscriber(services: "Services", name: str | None) -> None:
    """Raise `NotFoundError` if neither a plug-in nor a subscription has the name."""
    from frepo_core.services.events.subscriptions import find_subscription

    if name is not None and name not in services.plugins.subscribers:
        find_subscription(services.database, name)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        problem = {"event": [f"{text!r} is not the number of an event"]}
        raise FieldsError(problem, remedy="`frepo events:parked` lists the parked events") from None
