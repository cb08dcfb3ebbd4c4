"""Sends messages through Apprise. It is imported at the first message, because it needs 0.5 s and 30 MB."""

import contextlib
import logging
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from frepo_core.plugins import Message

from .errors import NotDelivered
from .masking import mask_url
from .targets import Target

# Apprise's own log names URLs, and so do those of the libraries with which it sends.
_LOGGERS = ("apprise", "urllib3.connectionpool", "requests_oauthlib.oauth1_auth")


def send_text(target: Target, message: Message) -> None:
    """Send a message for people. Raises `NotDelivered` with the reason that Apprise gives, without secrets."""
    with _hidden_logs() as warnings:
        try:
            is_sent = _open(target.url).notify(
                title=message.title, body=message.body, notify_type=message.level, body_format="text"
            )
        except Exception as error:  # noqa: BLE001  # its traceback may name the URL
            raise NotDelivered(mask_url(f"{type(error).__name__}: {error}", target.url)) from None
    if not is_sent:
        reason = " ".join(dict.fromkeys(warnings)) or "Apprise gives no reason."
        raise NotDelivered(mask_url(f"Apprise could not send the message. {reason}", target.url))


def is_understood(url: str) -> bool:
    """Return whether Apprise accepts the URL."""
    import apprise

    with _hidden_logs():
        return apprise.Apprise.instantiate(url) is not None


def mail_server_of(url: str) -> tuple[str, int] | None:
    """Return host and port of the mail server that Apprise uses for a URL; None if it is not one of mail."""
    import apprise

    with _hidden_logs():
        opened = apprise.Apprise.instantiate(url)
    host = getattr(opened, "smtp_host", None)
    port = getattr(opened, "port", None) or getattr(opened, "default_port", None) or 25
    return (str(host), int(port)) if host else None


def _open(url: str) -> Any:
    """Return an Apprise object for one URL. It follows no redirects, which would forward message and secrets."""
    import apprise

    # A message that is too long for the service is sent in parts, unless the URL says something else.
    if "overflow=" not in url:
        url += ("&" if "?" in url else "?") + "overflow=split"
    opened = apprise.Apprise(
        asset=apprise.AppriseAsset(app_id="frepo", app_desc="frepo", async_mode=False, http_redirects=False)
    )
    if not opened.add(url):
        raise ValueError("Apprise does not understand the URL")
    return opened


# The warnings that were logged in this context. Apprise sends in threads of its own, which have a copy of the context.
_WARNINGS: ContextVar[list[str] | None] = ContextVar("frepo_notify_warnings", default=None)


@contextlib.contextmanager
def _hidden_logs() -> Iterator[list[str]]:
    """Keep what is logged while a message is sent out of the service's log; yield the warnings."""
    warnings: list[str] = []
    token = _WARNINGS.set(warnings)
    try:
        yield warnings
    finally:
        _WARNINGS.reset(token)


class _HiddenLogs(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        warnings = _WARNINGS.get()
        if warnings is not None and record.levelno >= logging.WARNING:
            warnings.append(record.getMessage())
        return warnings is None


for _name in _LOGGERS:
    logging.getLogger(_name).addFilter(_HiddenLogs())
