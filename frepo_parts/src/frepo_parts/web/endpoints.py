"""The endpoints: the parts of a version, one of them, and what changed since another version."""

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO
from urllib.parse import quote

from pyramid.response import Response

from frepo_core.plugins import EndpointError, FieldsError, NotFoundError, PluginContext, StoredVersion
from frepo_core.web import Answer, Endpoint, FrepoRequest, next_cursor, page_of

from ..changes import find_differences
from ..listings import Listing, Listings, listings_of, part_of
from ..restoring import file_name
from .models import Change, Changes, ChangesQuery, Contents, ContentsQuery, PartItem

VERSION = "/api/v1/collections/{collection}/versions/{selector}"
_OTHER_PASSWORD = "X-Other-File-Password"  # the name of a header
_SHOWN = 500


class _Chunks:
    """The bytes of a part. The content is closed at their end, and when the client goes."""

    def __init__(self, chunks: Iterator[bytes], content: BinaryIO) -> None:
        self._chunks, self._content = chunks, content
        self._first = next(chunks, b"")  # a storage that fails is answered with an error, not with half a part

    def __iter__(self) -> Iterator[bytes]:
        yield self._first
        yield from self._chunks

    def close(self) -> None:
        self._content.close()


class Views:
    """The views."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context

    @property
    def _listings(self) -> Listings:
        return listings_of(self._context)  # not in the hook, which must not use the service yet

    def _selected(self, request: FrepoRequest, selector: str, password: str) -> StoredVersion:
        """Return a version that the client may download."""
        service, sender, collection = self._context.service, request.sender, request.collection.id
        version = service.version(collection, selector, by=sender)
        service.require_download_right(collection, version.number, by=sender, password=password)
        return version

    def _listing(self, version: StoredVersion) -> Listing | None:
        open_content = partial(self._context.service.open_version, version.collection_id, version.number)
        return self._listings.find_or_make(version.sha256, version.size, open_content)

    def show(self, request: FrepoRequest) -> Answer:
        """Answer a page of the parts in a folder."""
        query = request.query_as(ContentsQuery)
        version = self._selected(request, request.matchdict["selector"], request.password_in_header)
        listing = self._listing(version)
        state, reason = _state(listing)
        if listing is None or listing.reader is None:
            body = Contents(
                version=version.number, state=state, reason=reason, format=None, parts=0, items=[], next=None
            )
            return Answer(body=body)
        page = page_of(query, _chosen(listing, query), lambda one: [one.name, f"{one.number:010}"])
        return Answer(
            body=Contents(
                version=version.number,
                state=state,
                reason=None,
                format=listing.reader.label,
                parts=len(listing.parts),
                items=list(page.items),
                next=next_cursor(query, page),
            )
        )

    def send(self, request: FrepoRequest) -> Response:
        """Answer with one part."""
        text = request.matchdict["part"]
        if not text.isdecimal() or len(text) > 9:
            raise FieldsError({"part": ["is not the number of a part, as `number` in the list has it"]})
        version = self._selected(request, request.matchdict["selector"], request.password_in_header)
        listing = self._listing(version)
        if listing is None or listing.reader is None:
            raise EndpointError(409, f"The parts of this version are not listed: {_state(listing)[1]}")
        part = part_of(listing, int(text))
        if part.refusal or part.kind == "folder":
            raise EndpointError(409, f"This part is not given alone: {part.refusal or 'it is a folder'}")
        content = self._context.service.open_version(
            version.collection_id, version.number, by=request.sender, password=request.password_in_header
        )
        try:
            chunks = _Chunks(listing.reader.extract(content, part), content)
        except BaseException:
            content.close()
            raise
        name = file_name(part, listing.reader.suffix)
        response = Response(app_iter=chunks, content_type="application/octet-stream", headerlist=None)
        response.content_length = part.size
        response.headers.update(
            {
                "Cache-Control": "private, no-store",
                "Content-Disposition": _disposition(name),
                "Content-Security-Policy": "sandbox",
                "X-Content-Type-Options": "nosniff",
            }
        )
        return response

    def compare(self, request: FrepoRequest) -> Answer:
        """Answer what changed since another version."""
        since = request.query_as(ChangesQuery).since
        version = self._selected(request, request.matchdict["selector"], request.password_in_header)
        earlier = since or self._before(request, version)
        if earlier is None:
            return _no_changes(version, None, "none", "There is no version before it")
        other = self._selected(request, earlier, request.headers.get(_OTHER_PASSWORD, request.password_in_header))
        listings = [self._listing(one) for one in (other, version)]
        for one in listings:
            state, reason = _state(one)
            if one is None or one.reader is None:
                return _no_changes(version, other.number, state, reason)
        before, after = (one.parts for one in listings if one)
        found = find_differences(before, after)
        items = [
            Change(
                name=one.after.name if one.after else one.before.name,  # type: ignore[union-attr]  # it is in one of them
                kind=one.after.kind if one.after else one.before.kind,  # type: ignore[union-attr]
                change=one.change,
                size_before=one.before.size if one.before else None,
                size=one.after.size if one.after else None,
                rows_before=one.before.rows if one.before else None,
                rows=one.after.rows if one.after else None,
            )
            for one in found[:_SHOWN]
        ]
        body = Changes(
            version=version.number, since=other.number, state="listed", reason=None, total=len(found), items=items
        )
        return Answer(body=body)

    def _before(self, request: FrepoRequest, version: StoredVersion) -> str | None:
        """Return the selector of the version before."""
        after, is_last = None, False
        while not is_last:
            page = self._context.service.versions(version.collection_id, after=after, by=request.sender)
            for one in page.items:
                if one.number < version.number:
                    return f"v{one.number}"
            after, is_last = page.next, page.next is None
        return None


def _state(listing: Listing | None) -> tuple[str, str | None]:
    if listing is None:
        return "pending", "It is being listed. Ask again in a minute"
    return ("none", listing.reason) if listing.reader is None else ("listed", None)


def _no_changes(version: StoredVersion, since: int | None, state: str, reason: str | None) -> Answer:
    return Answer(body=Changes(version=version.number, since=since, state=state, reason=reason, total=0, items=[]))


def _chosen(listing: Listing, query: ContentsQuery) -> list[PartItem]:
    nodes = listing.tree.nodes
    if query.name:
        named = [(node, node.part.name) for node in nodes.values() if node.part]
        return [PartItem.of(node, name) for node, name in named if query.name in {name, node.name}]
    if query.parent not in nodes:
        raise NotFoundError(f"The content has no folder with the number {query.parent}")
    return [PartItem.of(node) for node in nodes[query.parent].children.values()]


def _disposition(name: str) -> str:
    plain = "".join(one if one.isascii() and one.isprintable() and one not in '"\\' else "_" for one in name)
    extended = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return f'attachment; filename="{plain}"{extended}'


def make_endpoints(context: PluginContext) -> list[Endpoint]:
    """Return the endpoints."""
    views = Views(context)
    of_version = partial(Endpoint, method="GET", permission="version.list")
    return [
        of_version(
            name="list_parts",
            path=f"{VERSION}/contents",
            view=views.show,
            summary="List the parts of a version: tables of a dump, files of an archive",
            query=ContentsQuery,
            answers={200: Contents},
        ),
        of_version(
            name="download_part",
            path=f"{VERSION}/contents/{{part}}",
            view=views.send,
            summary="Download one part of a version",
            parameters={"part": "The `number` of a part in the list."},
            answers={200: None, 409: None},
        ),
        of_version(
            name="compare_parts",
            path=f"{VERSION}/changes",
            view=views.compare,
            summary="Show what changed in the parts since another version",
            query=ChangesQuery,
            headers=(_OTHER_PASSWORD,),
            answers={200: Changes},
        ),
    ]
