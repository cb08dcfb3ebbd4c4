"""The test messages of the command `frepo notify:test`."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from frepo_core.plugins import ConfigurationError, Message, PluginContext

from .errors import NotDelivered
from .heartbeat import ping
from .settings import NotifySettings
from .targets import Target
from .text_sending import send_message
from .webhook import send_webhook

HEARTBEAT = "heartbeat"
TEXT = "This is a test of frepo's notifications. If you read it, this target works. There is nothing to do."


def send_tests(context: PluginContext, names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Send a test message to the targets with these names, or to all; return name, `yes` or `no`, and the problem.

    Raises `ConfigurationError` for an unknown name, or if no target is set.
    """
    tests = _tests(context)
    if unknown := [name for name in names if name not in tests]:
        raise ConfigurationError(f"There is no target {unknown[0]!r}. Targets: {', '.join(tests) or 'none'}")
    if not tests:
        raise ConfigurationError("No target is set. Set notify.targets (NOTIFY_TARGETS), see docs/notify.md")
    return [(name, *_outcome(tests[name])) for name in names or tests]


def names_of_tests(context: PluginContext) -> list[str]:
    """Return the names of all targets, and `heartbeat` if it is set."""
    return list(_tests(context))


def _tests(context: PluginContext) -> dict[str, Callable[[], None]]:
    """Return what sends the test message to each target, by the target's name."""
    settings: NotifySettings = context.settings
    tests: dict[str, Callable[[], None]] = {
        target.name: partial(_send, target, settings, context) for target in settings.all_targets
    }
    if settings.heartbeat.get_secret_value():
        tests[HEARTBEAT] = partial(ping, settings, context.service)
    return tests


def _send(target: Target, settings: NotifySettings, context: PluginContext) -> None:
    if not target.is_webhook:
        send_message(target, Message(title=f"[{settings.sender_name}] Test", body=TEXT), context.service)
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
