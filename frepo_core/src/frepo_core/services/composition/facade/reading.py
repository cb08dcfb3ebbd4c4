"""The part of the facade that reads lists page by page: it implements `ReadingService`."""

import contextlib
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import select

from frepo_core.db.models import Collection, File
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.errors import AccessDeniedError, FieldsError, NotFoundError
from frepo_core.plugins import CollectionUsage, FileInfo, ListPage, StoredVersion, TrashedVersion, VersionCheck

from ...backups.rows.collection_search import visible_to
from ...base.keyset import Page, PageRequest, cut, paged
from ...base.records import CollectionRecord, FileRecord
from ...content.objects.damage import mark_lost_files
from ...reports.statistics import read_collection_usage
from .connection import ConnectedFacade
from .descriptions import file_info, stored_version, trashed_version, version_check

MAX_LIMIT = 1000
Row = TypeVar("Row")
Item = TypeVar("Item")


class ReadingFacade(ConnectedFacade):
    """Reads by keyset, as `/api/v1` does."""

    def versions(
        self,
        collection_id: str,
        *,
        after: str | None = None,
        limit: int = 100,
        verdicts: Sequence[str] = (),
        label: tuple[str, str] | None = None,
        by: Identity | None = None,
    ) -> ListPage[StoredVersion]:
        request = _request(after, limit, is_descending=True)
        collection = self._collection_for(collection_id, "version.list", by) if by else self._find(collection_id)
        judged = [Verdict(one) for one in verdicts]
        found = self._services.versions.page(collection.id, request, verdicts=judged, label=label)
        return _page(found, lambda version: stored_version(version, collection))

    def version(self, collection_id: str, selector: str | int, *, by: Identity | None = None) -> StoredVersion:
        collection = self._collection_for(collection_id, "version.list", by) if by else self._find(collection_id)
        name = f"v{selector}" if isinstance(selector, int) else selector
        return stored_version(self._services.versions.find_selected(collection.id, name), collection)

    def checks(self, collection_id: str, number: int, *, by: Identity | None = None) -> Sequence[VersionCheck]:
        collection = self._collection_for(collection_id, "version.list", by) if by else self._find(collection_id)
        return [version_check(one) for one in self._services.version_checks.outcomes(collection.id, number)]

    def trash(
        self, collection_id: str, *, after: str | None = None, limit: int = 100, by: Identity | None = None
    ) -> ListPage[TrashedVersion]:
        request = _request(after, limit, is_descending=True)
        collection = self._collection_for(collection_id, "trash.list", by) if by else self._find(collection_id)
        return _page(self._services.trash.page(collection.id, request), trashed_version)

    def collections(
        self, *, after: str | None = None, limit: int = 100, by: Identity | None = None, strategy: str | None = None
    ) -> ListPage[CollectionUsage]:
        request = _request(after, limit)
        query = select(Collection.id).where(*(visible_to(by) if by else []))
        if strategy is not None:
            query = query.where(Collection.strategy == strategy)
        with self._services.database.reading(is_snapshot=True) as session:
            rows = session.scalars(paged(query, request, [Collection.id])).all()
            found = cut(rows, request, lambda one: [one])
            usage = {one.id: one for one in read_collection_usage(session, limit, list(found.items))}
        return _page(Page(items=[usage[one] for one in found.items], next=found.next), lambda one: one)

    def files(self, *, after: str | None = None, limit: int = 100, by: Identity | None = None) -> ListPage[FileInfo]:
        request = _request(after, limit, is_descending=True)
        if by is None:
            return _page(self._all_files(request), file_info)
        if not allows("file.list", by):
            raise AccessDeniedError("The token may not list files: file.list is needed")
        from ...files.listing import FileSearch  # not every command lists files

        return _page(self._services.listing.visible_files(FileSearch(), request, by=by), file_info)

    def _all_files(self, request: PageRequest) -> Page[FileRecord]:
        query = select(File).where(File.kind == "plain")
        with self._services.database.reading() as session:
            rows = session.scalars(paged(query, request, [File.id])).all()
            found = cut(rows, request, lambda row: [row.id])
            return Page(items=mark_lost_files(session, list(map(FileRecord.of, found.items))), next=found.next)

    def _find(self, collection_id: str) -> CollectionRecord:
        try:
            return self._services.collections.get(collection_id)
        except FieldsError as error:
            raise NotFoundError(f"There is no collection {collection_id[:64]!r}") from error


def _request(after: str | None, limit: int, *, is_descending: bool = False) -> PageRequest:
    if not 1 <= limit <= MAX_LIMIT:
        raise ValueError(f"limit is {limit}; write a number from 1 to {MAX_LIMIT}")
    return PageRequest(limit=limit, is_descending=is_descending, after=None if after is None else _values(after))


def _values(after: str) -> list[Any]:
    """Return the values in a cursor; none if it is no cursor at all, so that the list refuses it."""
    with contextlib.suppress(ValueError, RecursionError):
        values = json.loads(after)
        if isinstance(values, list):
            return values
    return []


def _page(found: Page[Row], describe: Callable[[Row], Item]) -> ListPage[Item]:
    following = None if found.next is None else json.dumps(list(found.next))
    return ListPage(items=[describe(one) for one in found.items], next=following)
