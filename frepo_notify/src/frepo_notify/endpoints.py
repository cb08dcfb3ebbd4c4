"""The endpoints of the targets of notifications: which there are, and a test message to one of them."""

from collections.abc import Sequence

from frepo_core.plugins import NotFoundError, PluginContext
from frepo_core.web import Answer, Endpoint, FrepoRequest, Reply

from .trial_message import HEARTBEAT, names_of_tests, send_tests

PATH = "/api/v1/notification-targets"


class NotificationTarget(Reply):
    """Where notifications are sent, and which. The address is a secret: only what it begins with is here.

    Empty lists of collections and labels take all. `gets_summary` says whether the daily summary is sent there.
    """

    name: str
    kind: str
    events: list[str]
    collections: list[str]
    labels: list[str]
    gets_summary: bool


class NotificationTargets(Reply):
    """All targets. They are not split into pages, so `next` is always null."""

    items: list[NotificationTarget]
    next: str | None = None


class TestOutcome(Reply):
    """Whether the test message was delivered. `error` says why it was not."""

    delivered: bool
    error: str | None


def list_targets(request: FrepoRequest, context: PluginContext) -> Answer:
    """List where notifications are sent."""
    settings = context.settings
    items = [
        NotificationTarget(
            name=target.name,
            kind=target.scheme,
            events=list(target.kinds),
            collections=list(target.collections),
            labels=list(target.labels),
            gets_summary=target.gets_summary,
        )
        for target in settings.all_targets
    ]
    if HEARTBEAT in names_of_tests(context):
        items.append(
            NotificationTarget(
                name=HEARTBEAT, kind="heartbeat", events=[], collections=[], labels=[], gets_summary=False
            )
        )
    return Answer(body=NotificationTargets(items=items))


def test_target(request: FrepoRequest, context: PluginContext) -> Answer:
    """Send a test message to a target."""
    name = request.matchdict["target"]
    if name not in names_of_tests(context):
        raise NotFoundError(f"There is no target {name[:64]!r}")
    [(_, delivered, error)] = send_tests(context, [name])
    return Answer(body=TestOutcome(delivered=delivered == "yes", error=error or None))


def endpoints() -> Sequence[Endpoint]:
    """Return the endpoints."""
    return [
        Endpoint(
            name="list_notification_targets",
            method="GET",
            path=PATH,
            view=list_targets,
            summary="List where notifications are sent",
            permission="settings.view",
            answers={200: NotificationTargets},
        ),
        Endpoint(
            name="test_notification_target",
            method="POST",
            path=f"{PATH}/{{target}}/test",
            view=test_target,
            summary="Send a test message to a target",
            parameters={"target": "The name of the target, or `heartbeat`."},
            permission="jobs.run",
            answers={200: TestOutcome},
        ),
    ]
