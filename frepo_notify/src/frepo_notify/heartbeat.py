"""The heartbeat: a request each minute while the service is healthy, so that another service notices when it is not."""

from collections.abc import Mapping
from typing import Any

from frepo_core.plugins import JobContext, RemoteError, Service

from .errors import NotDelivered
from .masking import mask_url
from .settings import ALLOWED, NotifySettings


def send_heartbeat(context: JobContext) -> Mapping[str, Any]:
    """Request the URL if all health checks are true. Raises `NotDelivered` if the request fails."""
    settings: NotifySettings = context.settings
    problems = {name: list(messages) for name, messages in context.service.health().items() if messages}
    if problems:
        context.log.warning("the heartbeat is not sent, because the service is not healthy: %s", problems)
        return {"sent": False, "problems": problems}
    ping(settings, context.service)
    return {"sent": True}


def ping(settings: NotifySettings, service: Service) -> None:
    """Request the URL of the heartbeat. Redirects are followed to addresses that are allowed. Raises `NotDelivered`."""
    url = settings.heartbeat.get_secret_value()
    try:
        answer = service.send_request(
            "GET", url, timeout=settings.timeout, allowed_networks=settings.allowed_networks, setting=ALLOWED
        )
    except RemoteError as error:
        raise NotDelivered(
            mask_url(f"The heartbeat failed. {error.reason or error.message}", url, keeps_host=True)
        ) from None
    if not 200 <= answer.status < 300:
        raise NotDelivered(f"The heartbeat's receiver answered with status {answer.status}")
