"""The plain files of the demonstration: pictures and documents of a web site, with tags and aliases."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING

from frepo_core.features.aliases.feature import AliasServices
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import AddedFile, NewFile

from .catalogue import DAY
from .contents import make_content
from .images import draw_landscape
from .people import OPERATOR, People

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

_PICTURES = (
    ("hero-autumn.png", "web"),
    ("hero-winter.png", "web"),
    ("team-2026.png", "press"),
    ("product-shot-red-chair-front-view-retouched-print.png", "print"),
    ("product-shot-oak-table.png", "print"),
    ("blog-cover-harvest.png", "blog"),
    ("blog-cover-first-snow.png", "blog"),
    ("factory-from-above.png", "press"),
    ("showroom-copenhagen.png", "press"),
    ("newsletter-header.png", "web"),
    ("map-of-all-shops.png", "web"),
    ("Größentabelle – Herbst.png", "shop"),
)
_DOCUMENTS = (
    ("price-list.json", "shop"),
    ("terms-of-delivery.txt", "shop"),
    ("press-kit-2026.zip", "press"),
    ("handbook.txt", "internal"),
    ("board-minutes-2026-10.txt", "internal"),
    ("release-notes.txt", "dev"),
    ("opening-hours.json", "web"),
    ("fonts.zip", "web"),
)
_ALIASES = {"hero": "hero-autumn.png", "prices": "price-list.json", "press": "press-kit-2026.zip"}


@dataclass(frozen=True, kw_only=True)
class DemoFile:
    """A file to upload: its name, its tags and its content. Every third one is listed for everybody."""

    at: datetime
    name: str
    tags: tuple[str, ...]
    public: bool
    content: bytes


def make_files(now: datetime, random: Random) -> Iterator[DemoFile]:
    """Yield the files of a year."""
    for place, (name, tag) in enumerate([*_PICTURES, *_DOCUMENTS]):
        at = now - random.uniform(1, 360) * DAY
        seed = f"{random.random()} {name}"
        size = random.randrange(800, 60_000)
        content = draw_landscape(seed) if name.endswith(".png") else make_content(name, size, seed, at.astimezone(UTC))
        tags = (tag, "2026") if place % 2 else (tag,)
        yield DemoFile(at=at, name=name, tags=tags, public=place % 3 == 0, content=content)


def add_file(services: "CoreServices", file: DemoFile, people: People) -> AddedFile:
    """Upload a file, and make its alias if it has one."""
    by = people.find(OPERATOR)
    new = NewFile(name=file.name, tags=file.tags, public=file.public)
    added = services.files.add(new, Incoming(stream=io.BytesIO(file.content)), by=by)
    if not isinstance(added, AddedFile):
        raise TypeError("an upload without an Idempotency-Key has no recorded answer")
    for alias in [alias for alias, name in _ALIASES.items() if name == file.name]:
        services.feature(AliasServices).aliases.put(alias, added.file.stored_name, by=by)
    return added
