"""Sends messages for people: through the notifier of another plug-in if the URL is one of its scheme, else Apprise."""

from collections.abc import Sequence

from frepo_core.plugins import ConfigurationError, Message, NotSent, Service

from .apprise_target import send_text
from .errors import NotDelivered
from .examination.url_check import check_urls
from .masking import mask_url
from .targets import Target


def send_message(target: Target, message: Message, service: Service) -> None:
    """Send a message. Raises `NotDelivered`, without secrets."""
    notifier = service.notifiers().get(target.scheme)
    if notifier is None:
        send_text(target, message)
        return
    try:
        notifier.send(target.address, message)
    except NotSent as error:
        raise NotDelivered(mask_url(str(error), target.url)) from None


def check_targets(targets: Sequence[Target], service: Service) -> None:
    """Raise `ConfigurationError` that names a target whose URL is not understood, without its secrets."""
    notifiers = service.notifiers()
    for target in targets:
        if notifier := notifiers.get(target.scheme):
            try:
                notifier.check(target.address)
            except ValueError as error:
                raise ConfigurationError(
                    f"Setting notify.targets (NOTIFY_TARGETS): the URL of the target {target.name!r} is wrong, says "
                    f"{notifier.origin}: {mask_url(str(error), target.url)}"
                ) from None
    check_urls([target for target in targets if target.scheme not in notifiers])
