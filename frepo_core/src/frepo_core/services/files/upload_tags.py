"""The rule about the tags of an upload: which tags a file gets, and which a token may not give it."""

from collections.abc import Sequence

from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import enforces_tags


def may_give_tags(tags: Sequence[str], by: Identity) -> bool:
    """Return whether a token may upload a file with these tags: if it has tags and enforces none, only with its own."""
    return enforces_tags(by) or not by.tags or set(tags) <= set(by.tags)


def tags_of_upload(tags: Sequence[str], by: Identity) -> list[str]:
    """Return the tags that the file gets, each once: those of a token that enforces them, else the requested ones."""
    return list(by.tags) if enforces_tags(by) else list(dict.fromkeys(tags))
