"""The targets of notifications, parsed from the setting `notify.targets`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from frepo_core.plugins import Event, MessageTarget

from .signing import Signer
from .texts import BROKEN, BROKEN_ARRIVAL, NEW_NORMAL, OVERTAKEN, TEXTS, topics_of

# What an operator must react to, or was waiting for. Everything else is asked for with `kinds=`.
PROBLEMS = (
    "version.refused",
    "version.suspicious",
    "version.quarantined",
    BROKEN,
    "version.condemned",
    "version.unjudged",
    "run.failed",
    "collection.overdue",
    "collection.recovered",
    "collection.full",
    "collection.problem",
    "collection.problem_ended",
    "collection.sender_changed",
    "collection.senders_in_turn",
    "token.shared",
    "blob.*",
    "storage.*",
    "job.*",
    "message.sent",
)
# The topics that are no kinds of events, but what some events of a kind are called here.
_KINDS = {BROKEN: "version.checked"} | dict.fromkeys((BROKEN_ARRIVAL, NEW_NORMAL, OVERTAKEN), "version.quarantined")
_NAME = re.compile("[a-z][a-z0-9_]*")
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*://.+")
_OPTION = re.compile("([a-z]+)=(.*)")
# Line ends, or a semicolon between blanks: neither can be a part of a URL.
_SEPARATOR = re.compile(r"\n|(?<=\s);(?=\s)")
_OPTIONS = ("kinds", "collections", "labels", "secret", "summary")


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where notifications are sent, and which: patterns of kinds, of collections' ids or names, of labels (none: all).

    `secret` signs the messages of a webhook. The URL and the secret are not in the `repr`.
    """

    name: str
    url: str = field(repr=False)
    kinds: tuple[str, ...] = PROBLEMS
    collections: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    secret: str = field(default="", repr=False)
    gets_summary: bool = True

    @property
    def is_webhook(self) -> bool:
        """Whether messages are sent as signed JSON, not as text through Apprise."""
        return self.url.lower().startswith(("http://", "https://"))

    @property
    def scheme(self) -> str:
        """What the URL begins with, in lower case: it says who sends the messages."""
        return self.url.partition("://")[0].lower()

    @property
    def address(self) -> MessageTarget:
        """The target, as notifiers of other plug-ins get it."""
        return MessageTarget(name=self.name, url=self.url)

    @property
    def event_kinds(self) -> tuple[str, ...]:
        """The patterns of kinds to subscribe to. `version.broken` is not a kind, but a result of `version.checked`."""
        topics = [topic for topic in _KINDS if any(fnmatchcase(topic, pattern) for pattern in self.kinds)]
        return (*self.kinds, *(_KINDS[topic] for topic in topics))

    def takes(self, event: Event, collection_name: str = "", labels: Sequence[str] = ()) -> bool:
        """Return whether this target gets an event; name and labels are those of the event's collection.

        An event without a collection passes the filters of collections and labels.
        """
        if not any(fnmatchcase(name, pattern) for pattern in self.kinds for name in topics_of(event)):
            return False
        if event.collection_id is None:
            return True
        names = {event.collection_id, collection_name} - {""}
        return _matches(names, self.collections) and _matches(labels, self.labels)


def parse_targets(text: str) -> tuple[Target, ...]:
    """Parse one target a line: a name, a URL and options such as `kinds=version.*`.

    Raises `ValueError` with a message that has neither URLs nor secrets.
    """
    targets = tuple(_parse(line.split()) for line in _SEPARATOR.split(text) if line.strip())
    names = [target.name for target in targets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"the target {twice[0]!r} is there twice; give each target a name of its own")
    return targets


def _parse(words: list[str]) -> Target:
    name, *rest = words
    if not _NAME.fullmatch(name):
        raise ValueError(
            "a target begins with its name (small letters, digits, underscores), followed by its URL and options, "
            "such as: ops mailtos://... kinds=job.*"
        )
    if not rest or not _SCHEME.fullmatch(rest[0]):
        raise ValueError(f"the target {name!r} has no URL after its name")
    try:
        return _with_options(name, rest[0], rest[1:])
    except ValueError as error:
        raise ValueError(f"the target {name!r}: {error}") from None


def _with_options(name: str, url: str, words: list[str]) -> Target:
    found = {match[1]: match[2] for word in words if (match := _OPTION.fullmatch(word))}
    if len(found) < len(words) or (unknown := sorted(found.keys() - set(_OPTIONS))):
        what = (
            f"{unknown[0]!r} is not an option"
            if len(found) == len(words)
            else "a word is not option=value, or is there twice"
        )
        raise ValueError(f"{what}. Options: {', '.join(_OPTIONS)}")
    target = Target(
        name=name,
        url=url,
        kinds=_kinds(found.get("kinds", "problems")),
        collections=_words(found.get("collections", "")),
        labels=_words(found.get("labels", "")),
        secret=found.get("secret", ""),
        gets_summary=_is_yes(found.get("summary", "yes")),
    )
    _check_secret(target)
    return target


def _matches(texts: Iterable[str], patterns: Sequence[str]) -> bool:
    """Return whether one of the texts matches one of the patterns. Without patterns, all do."""
    return not patterns or any(fnmatchcase(text, pattern) for text in texts for pattern in patterns)


def _check_secret(target: Target) -> None:
    if not target.is_webhook:
        if target.secret:
            raise ValueError("only a webhook (http:// or https://) has a secret")
        return
    _check_url(target.url)
    if not target.secret:
        raise ValueError(
            "a webhook needs secret=whsec_..., with which its receiver verifies messages. "
            'Make one with: echo "whsec_$(openssl rand -base64 32)"'
        )
    Signer(target.secret)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("its URL is not valid") from None
    if not host:
        raise ValueError("its URL has no host")
    if parts.username or parts.password:
        raise ValueError("a user and password in the URL of a webhook are not sent; the signature proves who sends it")


def _kinds(text: str) -> tuple[str, ...]:
    patterns = _words(text)
    if not patterns:
        raise ValueError("kinds= is empty; leave it out for all problems, or write kinds=* for everything")
    for pattern in patterns:
        is_known = pattern == "problems" or any(fnmatchcase(kind, pattern) for kind in TEXTS)
        if not is_known and not _may_be_of_plugin(pattern):
            raise ValueError(f"no kind of event matches {pattern!r}. Kinds: problems, {', '.join(TEXTS)}")
    return tuple(one for pattern in patterns for one in (PROBLEMS if pattern == "problems" else (pattern,)))


def _may_be_of_plugin(pattern: str) -> bool:
    """Return whether a plug-in may have such kinds: their first part is its name, and no misspelt one of frepo's."""
    name, dot, word = pattern.partition(".")
    own = {kind.partition(".")[0] for kind in TEXTS}
    return bool(name and dot and word and name.isidentifier() and not get_close_matches(name, own, cutoff=0.7))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)


def _is_yes(text: str) -> bool:
    if text not in {"yes", "no"}:
        raise ValueError("summary= is yes or no")
    return text == "yes"
