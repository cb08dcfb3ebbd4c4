"""The notifier contract: a further way for messages to people."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from .context import PluginContext
from .events.message import CheckFunction, Message, MessageTarget
from .settings import require_callable

SendFunction: TypeAlias = Callable[[MessageTarget, Message, PluginContext], None]


def accept_any(target: MessageTarget) -> None:
    """Accept every target."""


@dataclass(frozen=True, kw_only=True)
class Notifier:
    """A way for messages: to targets whose URLs begin with `<name>://`.

    - `name`: unique among all notifiers, and the scheme of its URLs.
    - `send`: sends one message; gets the target, the message and the plug-in's context. It returns when the message
      is accepted, or raises `NotSent`. Set a timeout: other messages to this target wait meanwhile.
    - `check`: raises `ValueError` for a target whose URL is wrong. It is called at the start, and must not connect.
    """

    name: str
    send: SendFunction
    check: CheckFunction = accept_any

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError`."""
        require_callable("send", self.send)
        require_callable("check", self.check)
