"""Removes the secrets of a target's URL from messages, because logs and the database keep them."""

import re
from urllib.parse import unquote, urlsplit

MASK = "***"
# A shorter part, such as a port or `yes`, is no secret, and masking it would make messages unreadable.
SHORTEST = 4


def mask_url(text: str, url: str, *, keeps_host: bool = False) -> str:
    """Replace all parts of a URL in a text by `***`: user, password, path, query, and the host unless it is kept.

    In URLs for Apprise a host may be a secret: `slack://TOKEN/...`.
    """
    for part in sorted(parts_of(url, keeps_host=keeps_host), key=len, reverse=True):
        text = text.replace(part, MASK)
    return text


def parts_of(url: str, *, keeps_host: bool = False) -> frozenset[str]:
    """Return the parts of a URL that may be secret, as they are written and decoded."""
    rest = url.partition("://")[2]
    words = {rest, url, *re.split(r"[/?&=:@#,]", rest), *re.split(r"[/?&#]", rest)}
    found = {each for word in words for each in (word, unquote(word))}
    host = _host(url) if keeps_host else ""
    return frozenset(part for part in found if len(part) >= SHORTEST and part.casefold() != host)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").casefold()
    except ValueError:
        return ""
