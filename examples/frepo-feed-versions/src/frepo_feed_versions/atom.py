"""Writes Atom feeds (RFC 4287)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from xml.etree.ElementTree import Element, SubElement, tostring

NAMESPACE = "http://www.w3.org/2005/Atom"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An entry of a feed. `id` is a URI that never changes; `updated` is aware."""

    id: str
    title: str
    updated: datetime
    link: str
    summary: str


def make_feed(
    feed_id: str,
    title: str,
    entries: Sequence[Entry],
    *,
    updated: datetime,
    self_link: str,
    next_link: str | None = None,
) -> bytes:
    """Return the feed as XML in UTF-8. `updated` (aware) is the time of a feed without entries."""
    feed = Element("feed", xmlns=NAMESPACE)
    newest = max((entry.updated for entry in entries), default=updated)
    _describe(feed, feed_id, title, newest)
    SubElement(SubElement(feed, "author"), "name").text = "frepo"
    SubElement(feed, "link", rel="self", href=self_link)
    if next_link:
        SubElement(feed, "link", rel="next", href=next_link)
    for one in entries:
        entry = SubElement(feed, "entry")
        _describe(entry, one.id, one.title, one.updated)
        SubElement(entry, "link", href=one.link)
        SubElement(entry, "summary").text = one.summary
    return bytes(tostring(feed, encoding="utf-8", xml_declaration=True))


def _describe(element: Element, name: str, title: str, updated: datetime) -> None:
    SubElement(element, "id").text = name
    SubElement(element, "title").text = title
    SubElement(element, "updated").text = updated.isoformat()
