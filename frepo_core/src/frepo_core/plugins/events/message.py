"""Messages to people, and the ways to send them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

Level: TypeAlias = Literal["failure", "warning", "info", "success"]

LONGEST_TITLE, LONGEST_BODY = 200, 16_384  # characters


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message for people: a subject in one line of at most 200 characters, and a text of at most 16,384."""

    title: str
    body: str
    level: Level = "info"


@dataclass(frozen=True, kw_only=True)
class MessageTarget:
    """Where a message goes: the name that the operator has given it, and its URL, which may contain secrets."""

    name: str
    url: str = field(repr=False)


class NotSent(Exception):  # the contract's name
    """A message could not be sent; it is sent again later. The text says why, and contains no secret."""


CheckFunction: TypeAlias = Callable[[MessageTarget], None]


@dataclass(frozen=True, kw_only=True)
class BoundNotifier:
    """A notifier of some plug-in, for the one that delivers messages. `origin` names the plug-in and its package.

    - `check`: raises `ValueError` for a target whose URL is wrong.
    - `send`: raises `NotSent`, also for any other failure of the notifier, which the log names then.
    """

    origin: str
    check: CheckFunction
    send: Callable[[MessageTarget, Message], None]


def check_message(message: Message) -> Message:
    """Return the message if it can be sent. Raises `ValueError`."""
    if message.level not in get_args(Level):
        raise ValueError(f"level is {message.level!r}; write one of {', '.join(get_args(Level))}")
    if not message.title.strip() or len(message.title.splitlines()) > 1 or len(message.title) > LONGEST_TITLE:
        raise ValueError(f"title is {message.title!r}; write one line of at most {LONGEST_TITLE} characters")
    if len(message.body) > LONGEST_BODY:
        raise ValueError(f"body has {len(message.body)} characters; write at most {LONGEST_BODY}")
    return message
