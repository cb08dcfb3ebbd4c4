"""Parses machine-readable listings (RFC 3659): `type=file;size=5;modify=20240229120000; name`."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One name on the server. The size in bytes and the time in UTC are None if the server does not report them."""

    name: str
    kind: str
    size: int | None
    modified: datetime | None


def parse_entry(line: str) -> Entry:
    """Parse one line. Raises `ValueError` for an invalid size or time."""
    facts_text, _, name = line.partition(" ")
    facts: dict[str, str] = {}
    for fact in facts_text.split(";"):
        label, _, value = fact.partition("=")
        facts[label.lower()] = value
    return Entry(
        name=name,
        kind=facts.get("type", "").lower(),
        size=int(facts["size"]) if facts.get("size") else None,
        modified=parse_time(facts["modify"]) if facts.get("modify") else None,
    )


def parse_entries(listing: bytes) -> Iterator[Entry]:
    """Parse the answer to MLSD, without the entries of the folder itself and its parent.

    Names are UTF-8 (RFC 2640). Invalid bytes are kept as surrogates, so that the same name can be sent back.
    """
    for line in listing.split(b"\n"):
        text = line.rstrip(b"\r").decode("utf-8", "surrogateescape")
        if text:
            entry = parse_entry(text)
            if entry.kind not in {"cdir", "pdir"}:
                yield entry


def parse_time(text: str) -> datetime:
    """Parse `YYYYMMDDHHMMSS[.sss]`, which is always UTC (RFC 3659, 2.3)."""
    return datetime.strptime(text.strip()[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
