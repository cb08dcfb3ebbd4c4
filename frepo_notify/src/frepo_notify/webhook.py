"""Sends events to webhooks, one signed request for each (Standard Webhooks 1.0)."""

import json
import time
from collections.abc import Callable
from typing import Any

from frepo_core.plugins import Event, RemoteError, Service

from .errors import NotDelivered
from .masking import mask_url
from .settings import ALLOWED, NotifySettings
from .signing import Signer
from .targets import Target
from .texts import describe


def event_payload(event: Event, *, sender: str, collection_name: str) -> dict[str, Any]:
    """Return the message about an event: `type`, `timestamp` and `data`, as Standard Webhooks recommends."""
    return {
        "type": event.kind,
        "timestamp": event.at.isoformat().replace("+00:00", "Z"),
        "data": {
            "service": sender,
            "event": event.id,
            "text": describe(event, collection_name),
            "actor": event.actor,
            "address": event.address,
            "collection": event.collection_id,
            "collection_name": collection_name or None,
            "version": event.version_number,
            "file": event.file_id,
            "token": event.token,
            "details": dict(event.data),
        },
    }


def send_webhook(
    target: Target,
    message_id: str,
    payload: dict[str, Any],
    *,
    settings: NotifySettings,
    service: Service,
    clock: Callable[[], float] = time.time,
) -> None:
    """Post a signed message. Redirects are not followed. Raises `NotDelivered` unless the answer is 2xx."""
    body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    headers = {"Content-Type": "application/json", **Signer(target.secret).headers(message_id, int(clock()), body)}
    try:
        answer = service.send_request(
            "POST",
            target.url,
            body=body,
            headers=headers,
            timeout=settings.timeout,
            allowed_networks=settings.allowed_networks,
            setting=ALLOWED,
        )
    except RemoteError as error:
        raise NotDelivered(mask_url(error.reason or error.message, target.url, keeps_host=True)) from None
    if not 200 <= answer.status < 300:
        raise NotDelivered(f"The receiver answered with status {answer.status}{_advice(answer.status)}")


def _advice(status: int) -> str:
    if 300 <= status < 400:
        return ", a redirect, which is not followed. Set the new URL in notify.targets"
    if status in {401, 403}:
        return ". Check the secret of the target"
    if status == 410:
        return ", which asks to stop sending. Remove the target from notify.targets"
    return ""
