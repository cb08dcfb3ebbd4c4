"""What `frepo doctor` finds about notifications. No message is sent: `frepo notify:test` does that."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from frepo_core.plugins import DoctorFinding, Service

from ..apprise_target import mail_server_of
from ..settings import NotifySettings
from ..targets import Target

SECONDS = 5.0


def examine(settings: NotifySettings, service: Service) -> Iterator[DoctorFinding]:
    """Yield whether there are targets, and which of their servers cannot be connected to."""
    if not settings.all_targets:
        yield DoctorFinding(
            level="warning",
            message="No target is set, so nobody is told when a backup fails",
            remedy="Set notify.targets (NOTIFY_TARGETS), see docs/notify.md",
        )
    others = service.notifiers()
    for target in settings.all_targets:
        server = None if target.scheme in others else server_of(target)
        if server is not None and (reason := _try(*server)):
            yield DoctorFinding(
                level="problem",
                message=f"The server of the target {target.name!r} cannot be connected to: {reason}",
                remedy=f"Check the URL of the target and the network; then run `frepo notify:test {target.name}`",
            )


def server_of(target: Target) -> tuple[str, int] | None:
    """Return host and port of a mail server or a webhook; None for other services."""
    if not target.is_webhook:
        return mail_server_of(target.url)
    parts = urlsplit(target.url)
    return str(parts.hostname), parts.port or (443 if target.scheme == "https" else 80)


def _try(host: str, port: int) -> str:
    """Return why a connection fails, without the host, or an empty text."""
    try:
        with socket.create_connection((host, port), timeout=SECONDS):
            return ""
    except TimeoutError:
        return f"port {port} does not answer within {SECONDS:g} seconds"
    except OSError as error:
        return f"port {port}: {error.strerror or type(error).__name__}"
