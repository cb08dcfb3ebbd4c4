"""Pages of lists: `limit`, `cursor` and `sort` in the query, `items` and `next` in the answer.

A list declares its query with `PageQuery` as base, and `sort` with the names of the orders that it has:

    class CollectionQuery(PageQuery):
        sort: Literal["name", "-name"] = "name"

Its view passes `page_request(query)` to the service, and `next_cursor(query, page)` into the answer.
"""

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from pydantic import Field

from frepo_core.errors import FieldsError
from frepo_core.services.base.keyset import Page, PageRequest, cut

from ..schemas.models import PageNumber, Query, Reply

MAX_ITEMS = 500
NO_CURSOR = "This is no cursor of this list in this order: leave it out to begin"

Item = TypeVar("Item")


class PageQuery(Query):
    """The parameters of all lists. A cursor is valid with the `sort` and the filters with which it was returned."""

    limit: PageNumber = Field(50, ge=1, le=MAX_ITEMS, description="Items of a page.")
    cursor: str = Field("", max_length=2000, description="`next` of the page before; without it, the first page.")


class PageReply(Reply, Generic[Item]):
    """A page of a list. `next` is the `cursor` of the next page, null on the last one."""

    items: list[Item]
    next: str | None


def page_request(query: PageQuery) -> PageRequest:
    """Return the page that a query asks for. Raises `FieldsError` for a cursor of another list or order."""
    sort = getattr(query, "sort", "")
    after = _decode(query.cursor, sort) if query.cursor else None
    return PageRequest(limit=query.limit, sort=sort.removeprefix("-"), is_descending=sort.startswith("-"), after=after)


def next_cursor(query: PageQuery, page: Page[Any]) -> str | None:
    """Return the cursor of the page after `page`, None if it is the last one."""
    if page.next is None:
        return None
    text = json.dumps([getattr(query, "sort", ""), *page.next], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def page_of(query: PageQuery, items: Iterable[Item], key: Callable[[Item], Sequence[str]]) -> Page[Item]:
    """Return the page of a list that is in memory and has one order.

    `key` returns what the items are ordered by: texts, of which the last one is unique. Raises `FieldsError` as
    `page_request`.
    """
    page = page_request(query)
    found = sorted(items, key=lambda item: [*key(item)], reverse=page.is_descending)
    if (after := page.after) is not None:
        if not all(isinstance(value, str) for value in after):
            raise FieldsError({"cursor": [NO_CURSOR]})
        found = [item for item in found if ([*key(item)] < [*after] if page.is_descending else [*key(item)] > [*after])]
    return cut(found, page, key)


def _decode(cursor: str, sort: str) -> list[Any]:
    try:
        values = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
        if isinstance(values, list) and values[:1] == [sort] and all(map(_is_storable, values)):
            return values[1:]
    except (ValueError, RecursionError):
        pass
    raise FieldsError({"cursor": [NO_CURSOR]})


def _is_storable(value: Any) -> bool:
    """Return whether a value is no text, or one that each database can compare: without U+0000 and half characters."""
    return not isinstance(value, str) or not any(one == "\0" or "\ud800" <= one <= "\udfff" for one in value)
