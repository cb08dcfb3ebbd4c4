"""What `frepo doctor` finds about notifications. No message is sent: `frepo notify:test` does that."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from frepo_core.plugins import DoctorFinding, RemoteError, Service

from ..apprise_target import mail_server_of
from ..settings import ALLOWED, NotifySettings
from ..targets import Target

SECONDS = 5.0


def examine(settings: NotifySettings, service: Service) -> Iterator[DoctorFinding]:
    """Yield whether there are targets, and which of their servers, or that of the heartbeat, cannot be connected to."""
    if not settings.all_targets:
        yield DoctorFinding(
            level="warning",
            message="No target is set, so nobody is told when a backup fails",
            remedy="Set notify.targets (NOTIFY_TARGETS), see docs/notify.md",
        )
    others = service.notifiers()
    for target in settings.all_targets:
        if target.scheme not in others and (reason := _find_obstacle(target, settings, service)):
            yield DoctorFinding(
                level="problem",
                message=f"The server of the target {target.name!r} cannot be connected to: {reason}",
                remedy=f"Check the URL of the target and the network; then run `frepo notify:test {target.name}`",
            )
    heartbeat = settings.heartbeat.get_secret_value()
    if heartbeat and (reason := _find_obstacle_to_url(heartbeat, settings, service)):
        yield DoctorFinding(
            level="problem",
            message=f"The server of the heartbeat cannot be connected to: {reason}",
            remedy="Check notify.heartbeat (NOTIFY_HEARTBEAT) and the network",
        )


def _find_obstacle(target: Target, settings: NotifySettings, service: Service) -> str:
    """Return why the server of a target cannot be connected to, or an empty text. Other services are not looked at."""
    if target.is_webhook:
        return _find_obstacle_to_url(target.url, settings, service)
    server = mail_server_of(target.url)
    return "" if server is None else _try(*server)


def _find_obstacle_to_url(url: str, settings: NotifySettings, service: Service) -> str:
    try:
        service.check_address(url, allowed_networks=settings.allowed_networks, setting=ALLOWED)
    except RemoteError as error:
        return error.reason or error.message
    parts = urlsplit(url)
    return _try(str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80))


def _try(host: str, port: int) -> str:
    """Return why a connection fails, without the host, or an empty text."""
    try:
        with socket.create_connection((host, port), timeout=SECONDS):
            return ""
    except TimeoutError:
        return f"port {port} does not answer within {SECONDS:g} seconds"
    except OSError as error:
        return f"port {port}: {error.strerror or type(error).__name__}"
