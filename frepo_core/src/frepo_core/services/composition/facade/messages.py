"""Messages to people: recorded as events, and sent through the notifiers of plug-ins."""

import logging
from functools import partial

from frepo_core.db import Database
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor
from frepo_core.plugins import BoundNotifier, Message, MessageTarget, Notifier, NotSent, PluginContext
from frepo_core.plugins.events.message import check_message
from frepo_core.plugins.hang_watch import HangWatch
from frepo_core.plugins.registry import Owned

from ...base.plugin_failures import PLUGIN_FAILURES, raise_interrupt, storable
from ...events.recording import NewEvent, record

log = logging.getLogger(__name__)


def record_message(database: Database, message: Message, *, sender: str, collection_id: str | None) -> None:
    """Record a message, which subscribers deliver. Raises `ValueError` if it cannot be sent."""
    check_message(message)
    event = NewEvent(
        kind=EventKind.MESSAGE_SENT,
        by=Actor(name=f"system:{sender}"),
        collection_id=collection_id,
        data={"title": storable(message.title), "body": storable(message.body), "level": message.level},
    )
    database.write(lambda session: record(session, event))


def bind(owned: Owned[Notifier], context: PluginContext) -> BoundNotifier:
    """Return the notifier with the context of its plug-in."""
    return BoundNotifier(
        origin=f"the notifier {owned.spec.name!r} ({owned.plugin.origin})",
        check=owned.spec.check,
        send=partial(_send, owned, context),
    )


def _send(owned: Owned[Notifier], context: PluginContext, target: MessageTarget, message: Message) -> None:
    """Send a message. Raises `NotSent`: the text of another exception may contain the URL, so the log has its type."""
    origin = f"the notifier {owned.spec.name!r} ({owned.plugin.origin})"
    try:
        with HangWatch(f"`send` of {origin}", log):
            owned.spec.send(target, message, context)
    except NotSent:
        raise
    except PLUGIN_FAILURES as error:
        raise_interrupt(error)
        where = _place_of(error)
        log.error(
            "%s failed with %s%s; it raises NotSent if a message cannot be sent", origin, type(error).__name__, where
        )
        raise NotSent(f"{origin} failed with {type(error).__name__}{where}") from None


def _place_of(error: BaseException) -> str:
    """Return the line of the plug-in in which an error was raised. A traceback could name the URL."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f" in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else ""
