"""The endpoints that list files and collections."""

import re
from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from frepo_core.services.access.signed_links import SignedLinks
from frepo_core.services.backups.rows.collection_search import CollectionSearch
from frepo_core.services.base.keyset import NumberedPage
from frepo_core.services.files.listing import FileSearch, ListedFile

from ..base.endpoint import Answer, Endpoint
from ..base.request import FrepoRequest
from ..schemas import json_schemas
from ..schemas.models import PageNumber, Password, Query, Reply, WireDate
from .collections import CollectionObject

MAX_PAGE = 10**9


def _day(value: Any) -> Any:
    """Parse `YYYY-MM-DD`, or None from an empty text. Pydantic alone accepts numbers as seconds since 1970."""
    if not isinstance(value, str) or re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        return value
    if not value:
        return None
    raise ValueError("Expected a day as YYYY-MM-DD")


Day = Annotated[date | None, BeforeValidator(_day), WithJsonSchema(json_schemas.DAY)]


class PageQuery(Query):
    """The number of the page, and its length."""

    page: PageNumber = Field(1, ge=1, le=MAX_PAGE)
    limit: PageNumber = Field(20, ge=1, le=1000)


class FileListQuery(PageQuery):
    """A search for files: part of the name, one of the tags, one of the types."""

    searchQuery: str = Field("", max_length=255)
    tags: list[str] = Field([], max_length=100)
    mimes: list[str] = Field([], max_length=100)
    password: Password = ""


class CollectionListQuery(PageQuery):
    """A search for collections: part of file name, description or id; inclusive days; tokens on the list."""

    searchQuery: str = Field("", max_length=255)
    createdFrom: Day = None
    createdTo: Day = None
    allowedTokens: list[str] = Field([], max_length=100)


class Pagination(Reply):
    """The position of the page in the listing.

    At most 4,000 rows after the page are counted. If there are more, `max` is the last counted page, and grows with
    `current`. To read the whole listing, continue until `current` is `max`.
    """

    current: int
    max: int
    perPage: int


class FileAttributes(Reply):
    """Further attributes of a file."""

    isPasswordProtected: bool


_OPEN, _PROTECTED = FileAttributes(isPasswordProtected=False), FileAttributes(isPasswordProtected=True)


class FileRow(Reply):
    """A file in the listing. It is masked if the token must not see its details."""

    id: int
    publicUrl: str
    filename: str
    requested_filename: str
    contentHash: str
    dateAdded: WireDate
    mimeType: str
    tags: list[str]
    public: bool | None
    size: int
    attributes: FileAttributes


class FileListReply(Reply):
    """A page of files, newest first."""

    results: list[FileRow]
    pagination: Pagination


class CollectionListReply(Reply):
    """A page of collections, newest first."""

    status: str = "OK"
    http_code: int = 200
    elements: list[CollectionObject]
    pagination: Pagination


def list_files(request: FrepoRequest) -> Answer:
    """List files."""
    query = request.query_as(FileListQuery)
    page = request.services.listing.files(
        FileSearch(
            text=query.searchQuery,
            tags=[tag.lower() for tag in query.tags],
            mimes=[mime.lower() for mime in query.mimes],
            password=query.password,
            address=request.client_address,
            page=query.page,
            size=query.limit,
        ),
        by=request.sender,
    )
    # The same for all files, so it is computed once.
    root, links = request.link(""), request.services.links
    rows = [_row(root, links, listed) for listed in page.rows]
    return Answer(body=FileListReply(results=rows, pagination=_pagination(page)))


def list_collections(request: FrepoRequest) -> Answer:
    """List collections."""
    query = request.query_as(CollectionListQuery)
    keys = [request.services.tokens.key(token) or "no token" for token in query.allowedTokens]
    page = request.services.collection_pages.search(
        CollectionSearch(
            text=query.searchQuery,
            created_from=query.createdFrom,
            created_to=query.createdTo,
            tokens=keys,
            page=query.page,
            size=query.limit,
        ),
        by=request.sender,
    )
    elements = [CollectionObject.of(record) for record in page.rows]
    return Answer(body=CollectionListReply(elements=elements, pagination=_pagination(page)))


def _row(root: str, links: SignedLinks, listed: ListedFile) -> FileRow:
    file, masked = listed.file, listed.masked
    return FileRow(
        id=file.id,
        publicUrl="" if masked else root + links.plain(file.stored_name),
        filename="anonymous" if masked else file.stored_name,
        requested_filename="anonymous" if masked else file.requested_name,
        contentHash="" if masked else file.blob.digest,
        dateAdded=WireDate.of(file.created_at),
        mimeType=file.blob.mime,
        tags=[] if masked else list(file.tags),
        public=None if masked else file.public,
        size=file.blob.size,
        attributes=_OPEN if file.password_hash is None else _PROTECTED,
    )


def _pagination(page: NumberedPage[Any]) -> Pagination:
    return Pagination(current=page.number, max=page.last, perPage=page.size)


ENDPOINTS = [
    Endpoint(
        name="list_files",
        method="GET",
        path="/repository",
        view=list_files,
        summary="List files",
        permission="file.list",
        query=FileListQuery,
        answers={200: FileListReply},
    ),
    Endpoint(
        name="list_collections",
        method="GET",
        path="/repository/collection",
        view=list_collections,
        summary="List collections",
        permission="collection.list",
        query=CollectionListQuery,
        answers={200: CollectionListReply},
    ),
]
