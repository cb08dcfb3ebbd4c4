"""How plug-ins read lists: page by page, all of a list or what a client may see."""

from collections.abc import Sequence
from typing import Protocol

from frepo_core.domain.identity import Identity

from .figures import CollectionUsage
from .records import FileInfo, ListPage, StoredVersion, TrashedVersion, VersionCheck


class ReadingService(Protocol):
    """Lists in pages of up to `limit` items, at most 1000. `after` is `next` of the page before, None for the first.

    Without `by`, a list is complete: do not answer a client with it. With the identity of a client, it is what that may
    see, and `AccessDeniedError` is raised if it may not see such lists at all. Raises `FieldsError` for an `after` of
    another list.
    """

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
        """Return a page of the versions of a collection, the newest first; `verdicts`: only those with one of them.

        `label` is the name of a label and a value: only those with it, which an index finds among many.
        Versions in quarantine are in it. Raises `NotFoundError` without such a collection.
        """

    def version(self, collection_id: str, selector: str | int, *, by: Identity | None = None) -> StoredVersion:
        """Return one version: the newest whose verdict is good (`good`), the newest (`latest`), or one by its number.

        `good` and `latest` skip what is in quarantine or condemned. Also an id, and a time of RFC 3339 for the newest
        one until then. Raises `NotFoundError`, and `AccessDeniedError` as `versions` does.
        """

    def checks(self, collection_id: str, number: int, *, by: Identity | None = None) -> Sequence[VersionCheck]:
        """Return what checks have said of the version with this number. Empty if there is none, or none was checked.

        Raises `NotFoundError` without such a collection, and `AccessDeniedError` as `versions` does.
        """

    def trash(
        self, collection_id: str, *, after: str | None = None, limit: int = 100, by: Identity | None = None
    ) -> ListPage[TrashedVersion]:
        """Return a page of the versions in the trash of a collection, those with the largest numbers first.

        They can be restored until they end, so keep what they need. Raises `NotFoundError` without such a collection.
        """

    def collections(
        self, *, after: str | None = None, limit: int = 100, by: Identity | None = None, strategy: str | None = None
    ) -> ListPage[CollectionUsage]:
        """Return a page of the collections with their sizes and states, by id; only those with a `strategy`.

        So a plug-in with a strategy of its own finds its collections, and by `collection` their options.
        """

    def files(self, *, after: str | None = None, limit: int = 100, by: Identity | None = None) -> ListPage[FileInfo]:
        """Return a page of the plain files, the newest first. A page for a client may be shorter than `limit`."""
