"""The command `frepo notify:test`."""

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from cliff.lister import Lister

from frepo_core.cli import FrepoCommand
from frepo_core.plugins import ConfigurationError, PluginContext

from .apprise_target import send_text
from .errors import NotDelivered
from .heartbeat import ping
from .settings import NotifySettings
from .targets import Target
from .texts import Message
from .webhook import send_webhook

COLUMNS = ("Target", "Sent", "Problem")
TEXT = "This is a test of frepo's notifications. If you read it, this target works. There is nothing to do."


class Test(FrepoCommand, Lister):
    """Send a test message to each target, or to those that are named, and request the heartbeat's URL.

    The exit status is 1 if one failed.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("target", nargs="*", help="names of targets, or `heartbeat`; default: all")
        return parser

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Send and return a row for each target."""
        context = self.plugin_context("notify")
        tests = _tests(context)
        if unknown := [name for name in arguments.target if name not in tests]:
            raise ConfigurationError(f"There is no target {unknown[0]!r}. Targets: {', '.join(tests) or 'none'}")
        if not tests:
            raise ConfigurationError("No target is set. Set notify.targets (NOTIFY_TARGETS), see docs/notify.md")
        rows: list[tuple[str, ...]] = [(name, *_outcome(tests[name])) for name in arguments.target or tests]
        self._has_failed = any(row[1] == "no" for row in rows)
        return COLUMNS, rows

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if a message could not be sent."""
        return int(super().run(arguments)) or int(self._has_failed)


def _tests(context: PluginContext) -> dict[str, Callable[[], None]]:
    """Return what sends the test message to each target, by the target's name."""
    settings: NotifySettings = context.settings
    tests: dict[str, Callable[[], None]] = {
        target.name: partial(_send, target, settings, context) for target in settings.all_targets
    }
    if settings.heartbeat.get_secret_value():
        tests["heartbeat"] = partial(ping, settings, context.service)
    return tests


def _send(target: Target, settings: NotifySettings, context: PluginContext) -> None:
    if not target.is_webhook:
        send_text(target, Message(title=f"[{settings.sender_name}] Test", body=TEXT))
        return
    now = datetime.now(UTC)
    payload = {
        "type": "notify.test",
        "timestamp": now.isoformat().replace("+00:00", "Z"),
        "data": {"service": settings.sender_name, "text": TEXT},
    }
    send_webhook(target, f"test-{uuid4()}", payload, settings=settings, service=context.service)


def _outcome(send: Callable[[], None]) -> tuple[str, str]:
    try:
        send()
    except NotDelivered as error:
        return "no", str(error)
    return "yes", ""
