"""Lists of collections with the keys that a reader asks for: `fields=state,last_version`."""

from collections.abc import Collection as Group
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema

from frepo_core.services.backups.collections.collection_pages import NEWEST, NEWEST_GOOD, PARTS, TRASH

from ...conventions.paging import PageReply
from ...schemas.models import Reply
from .models import Collection

ALWAYS = ("id", "name")
# What is read beyond the row of a collection, for which keys.
_KEYS = {NEWEST: {"last_version"}, NEWEST_GOOD: {"newest_good", "size_bounds"}, TRASH: {"trash_size"}}


def _only_known(text: str) -> str:
    if unknown := sorted(fields_of(text) - set(Collection.model_fields)):
        raise ValueError(f"Collections have no key {unknown[0][:64]!r}")
    return text


_NAMES = "|".join(Collection.model_fields)
Fields = Annotated[
    str,
    AfterValidator(_only_known),
    WithJsonSchema({"type": "string", "pattern": f"^(({_NAMES})(,({_NAMES}))*)?$", "maxLength": 1000}),
    Field(max_length=1000, examples=["state,last_version"]),
]


class ListedCollection(Collection):
    """A collection in a list: with `fields`, only those of its keys, and `id` and `name`."""

    model_config = ConfigDict(json_schema_extra=lambda schema: schema.update(required=list(ALWAYS)))


class CollectionPage(PageReply[ListedCollection]):
    """A page of collections. `next` is the `cursor` of the next page, null on the last one."""


class _LeanList(Reply):
    items: list[dict[str, Any]]
    next: str | None


class _WholeList(Reply):
    items: list[Collection]
    next: str | None


def fields_of(text: str) -> frozenset[str]:
    """Return the keys that are asked for; none: all."""
    return frozenset(filter(None, text.split(",")))


def parts_of(fields: Group[str]) -> Group[str]:
    """Return what has to be read for these keys."""
    return {part for part in PARTS if _KEYS[part] & set(fields)} if fields else PARTS


def page_of_fields(items: Sequence[Collection], cursor: str | None, fields: Group[str]) -> Reply:
    """Return the body of a page."""
    if not fields:
        return _WholeList(items=list(items), next=cursor)
    keys = {*fields, *ALWAYS}
    return _LeanList(items=[one.model_dump(mode="json", include=keys) for one in items], next=cursor)
