"""Gives one table or one file of a backup to `frepo restore`."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from frepo_core.plugins import FieldsError, FoundPart, NotFoundError, OpenedContent, Part, PluginContext

from .listings import Listing, Listings
from .tree import steps
from .writing import Writer

_LIKE = 5
_TABLE = "table"


def find_table(content: OpenedContent, name: str, context: PluginContext) -> FoundPart:
    """Return one table of a dump. Raises `NotFoundError`, and `FieldsError` for one that is not given."""
    listing = _list(content, context)
    part = table_named(listing, name)
    if part.refusal:
        raise FieldsError({"--table": [f"{part.name} is not given alone: {part.refusal}. Restore the whole backup"]})
    assert listing.reader is not None
    return FoundPart(
        name=file_name(part, listing.reader.suffix), size=part.size, chunks=listing.reader.extract(content.file, part)
    )


def table_named(listing: Listing, name: str) -> Part:
    """Return the table with a name, with or without its schema. Raises `NotFoundError`, which names others."""
    tables = {part.name: part for part in listing.parts if part.kind == _TABLE}
    wanted = name.replace(".", "/") if name not in tables and name.count(".") == 1 else name
    found = [part for full, part in tables.items() if full == wanted or full.rpartition("/")[2] == name]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(part.name.replace("/", ".") for part in found[:_LIKE])
        raise NotFoundError(f"{len(found)} tables are called {name!r}: {names}. Name one with its schema")
    if not tables:
        raise NotFoundError("It has files and no tables: take --path")
    like = difflib.get_close_matches(wanted, tables, _LIKE, 0.3) or sorted(tables)[:_LIKE]
    raise NotFoundError(f"It has no table {name!r}; it has {', '.join(one.replace('/', '.') for one in like)}")


def file_name(part: Part, suffix: str) -> str:
    """Return a name for the file of a part, without any folder."""
    text = part.name.strip("/").replace("/", ".") + suffix if part.kind == _TABLE else part.name.rpartition("/")[2]
    return "".join(one if one.isprintable() else "_" for one in text)[-200:].lstrip(".") or "part"


def write_path(content: OpenedContent, path: str, folder: Path, context: PluginContext) -> Sequence[str]:
    """Write a file or a folder of an archive below a folder; return sentences about it. Raises `NotFoundError`."""
    listing = _list(content, context)
    assert listing.reader is not None
    if any(part.kind == _TABLE for part in listing.parts):
        raise NotFoundError("It has tables and no files: take --table")
    wanted = steps(path)
    chosen = [part for part in listing.parts if steps(part.name)[: len(wanted)] == wanted]
    if not chosen:
        first = {names[0] for part in listing.parts if (names := steps(part.name))}
        raise NotFoundError(f"It has no file or folder {path!r}; at its top are {', '.join(sorted(first)[:_LIKE])}")
    writer = Writer(folder, listing.parts, lambda part: listing.reader.extract(content.file, part))  # type: ignore[union-attr]
    writer.write(chosen)
    return writer.report()


def _list(content: OpenedContent, context: PluginContext) -> Listing:
    listings = Listings(context)
    listing = listings.find(content.sha256) or listings.make(content.sha256, content.size, content.file)
    if listing.reader is None:
        raise NotFoundError(f"The parts of this backup are not listed: {listing.reason}")
    return listing
