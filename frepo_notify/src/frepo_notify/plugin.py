"""frepo's notifications: sends events to people and other services, and a heartbeat to an external monitor."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from frepo_core.plugins import (
    DoctorCheck,
    DoctorFinding,
    Job,
    JobContext,
    Lifecycle,
    PluginContext,
    SettingsSpec,
    Subscriber,
    hookimpl,
)

from .settings import NotifySettings

if TYPE_CHECKING:
    from frepo_core.web import Endpoint

    from .targets import Target

__all__ = [
    "NotifySettings",
    "frepo_doctor_checks",
    "frepo_endpoints",
    "frepo_jobs",
    "frepo_lifecycle",
    "frepo_settings",
    "frepo_subscribers",
]


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare the settings `notify.*`."""
    return SettingsSpec(prefix="notify", model=NotifySettings)


@hookimpl
def frepo_subscribers(context: PluginContext) -> Sequence[Subscriber]:
    """Subscribe each target on its own, so that one that is down delays no other."""
    settings: NotifySettings = context.settings
    return [_subscriber(target, settings.group_wait) for target in settings.all_targets]


@hookimpl
def frepo_jobs(context: PluginContext) -> Sequence[Job]:
    """Send the summary and the heartbeat, if they are set."""
    settings: NotifySettings = context.settings
    has_heartbeat = bool(settings.heartbeat.get_secret_value())
    return [
        Job(
            name="notify_summary",
            schedule=settings.summary,
            run=_send_summary,
            summary="Send what happened since the last summary",
        ),
        Job(
            name="notify_heartbeat",
            schedule="every 1m" if has_heartbeat else "off",
            run=_send_heartbeat,
            summary="Request notify.heartbeat while the service is healthy",
        ),
    ]


@hookimpl
def frepo_endpoints(context: PluginContext) -> "Sequence[Endpoint]":
    """List the targets, and send a test message to one of them."""
    from .endpoints import endpoints  # the command line loads this module, too, and does not need the web

    return endpoints()


@hookimpl
def frepo_lifecycle() -> Lifecycle:
    """Refuse to start with URLs that neither Apprise nor the notifier of a plug-in understands."""
    return Lifecycle(start=_check_targets)


@hookimpl
def frepo_doctor_checks() -> Sequence[DoctorCheck]:
    """Examine whether anybody is told, and whether mail servers and webhooks can be reached."""
    return [DoctorCheck(name="notify", run=_examine, deadline=60)]


def _examine(context: PluginContext) -> Iterable[DoctorFinding]:
    from .examination.servers import examine

    return examine(context.settings, context.service)


# Most commands send nothing, and need none of what these import.


def _subscriber(target: "Target", group_wait: float) -> Subscriber:
    from .delivery import TextDelivery, WebhookDelivery

    return Subscriber(
        name=f"notify_{target.name}",
        kinds=target.event_kinds,
        handle=(WebhookDelivery(target) if target.is_webhook else TextDelivery(target)).handle,
        delay=0 if target.is_webhook else group_wait,
    )


def _send_summary(context: JobContext) -> Mapping[str, Any]:
    from .summary import send_summary

    return send_summary(context)


def _send_heartbeat(context: JobContext) -> Mapping[str, Any]:
    from .heartbeat import send_heartbeat

    return send_heartbeat(context)


def _check_targets(context: PluginContext) -> None:
    from .text_sending import check_targets

    check_targets(context.settings.all_targets, context.service)
