"""The endpoints of a file under its stored name: download and deletion."""

from functools import partial
from typing import BinaryIO
from urllib.parse import quote

from pydantic import Field
from pyramid.response import Response

from frepo_core.domain.mime_types import shows_inline
from frepo_core.domain.naming import ascii_name
from frepo_core.domain.saved_names import saved_name
from frepo_core.domain.signatures import repr_digest
from frepo_core.services.base.records import BlobRecord, FileRecord
from frepo_core.services.content.decoder_memory import DecoderWait
from frepo_core.services.files.downloads import DownloadCredentials

from ..base.endpoint import Answer, Endpoint
from ..base.request import FrepoRequest
from ..content.content_response import ContentResponse
from ..content.offload import internal_location, store_url
from ..schemas.models import Password, Query, Reply

OPEN_CACHE = "public, max-age=25200, immutable"
# An alias may be given another file: caches ask each time, and get 304.
ALIAS_CACHE = "public, no-cache"
CLOSED_CACHE = "private, no-store"
# So long one that waits for a decoder stays if no other one gets on, and so many may wait: each has a thread.
RESTORE_SECONDS, RESTORES = 60, 60


class DownloadQuery(Query):
    """The password of a file, or the parameters of a signed link."""

    password: Password = ""
    expires: str = Field("", max_length=20)
    signature: str = Field("", max_length=128)


class DeleteQuery(Query):
    """The password of a protected file."""

    password: Password = ""


class DeletedReply(Reply):
    """The answer to a deletion."""

    success: bool = True
    status: str = "OK"
    error_code: int | None = None
    http_code: int = 200
    exit_code: int = 200


def download(request: FrepoRequest) -> Response:
    """Send a file, whole or in ranges."""
    query = request.query_as(DownloadQuery)
    key = DownloadCredentials(
        identity=request.identity,
        address=request.client_address,
        password=query.password or request.password_in_header,
        expires=query.expires,
        signature=query.signature,
    )
    return send(request, request.services.downloads.find(request.matchdict["name"], key))


def send(request: FrepoRequest, file: FileRecord) -> Response:
    """Return the answer with a file's bytes, or one that lets nginx or the object store send them."""
    if url := store_url(request, file):
        response = Response(status=302, location=url, cache_control=CLOSED_CACHE)
    else:
        response = _build(request, file, file.requested_name)
    return _recorded(request, file, response)


def send_itself(request: FrepoRequest, file: FileRecord) -> Response:
    """Return the answer with a file's bytes, or one that lets nginx send them. Its name fits the content."""
    name = saved_name(file.requested_name, file.blob.mime)
    return _recorded(request, file, _build(request, file, name))


def _recorded(request: FrepoRequest, file: FileRecord, response: Response) -> Response:
    if request.method == "GET" and response.status_int in {200, 206, 302}:
        request.services.download_events.record(file, by=request.identity, address=request.client_address)
    return response


def _cache_control(request: FrepoRequest, file: FileRecord) -> str:
    if not request.services.downloads.is_unrestricted(file):
        return CLOSED_CACHE
    return OPEN_CACHE if file.stored_name in request.matchdict.values() else ALIAS_CACHE


def _build(request: FrepoRequest, file: FileRecord, name: str) -> Response:
    disposition = "inline" if shows_inline(file.blob.mime) else "attachment"
    return ContentResponse(
        request,
        size=file.blob.size,
        content_type=file.blob.mime,
        etag=file.blob.digest,
        modified=file.created_at,
        headers={
            "Cache-Control": _cache_control(request, file),
            "Content-Disposition": _disposition(disposition, name),
            "Content-Security-Policy": "sandbox",
            "Repr-Digest": repr_digest(file.blob.digest),
            "X-Content-Type-Options": "nosniff",
        },
        read_part=partial(request.services.stored_content.read, file.blob),
        open_part=partial(_open, request, file.blob),
        location=internal_location(request, file.blob),
    ).build()


def _disposition(kind: str, name: str) -> str:
    """Return Content-Disposition (RFC 6266), for other names than plain ASCII with `filename*` (RFC 8187)."""
    plain = ascii_name(name)
    extended = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return f'{kind}; filename="{plain}"{extended}'


def remove(request: FrepoRequest) -> Answer:
    """Delete a plain file."""
    password = request.query_as(DeleteQuery).password
    request.services.files.delete(
        request.matchdict["name"], password, by=request.sender, address=request.client_address
    )
    return Answer(body=DeletedReply())


def _open(request: FrepoRequest, blob: BlobRecord, start: int, length: int) -> BinaryIO:
    """Open a part. If the server can send files itself, return the local file at the part's start."""
    content = request.services.stored_content
    file = content.open_file(blob, start, length) if "wsgi.file_wrapper" in request.environ else None
    if file is None and "frepo.lend" in request.environ:  # this server sends a file that is not complete yet
        wait = DecoderWait(
            seconds=RESTORE_SECONDS,
            most=RESTORES,
            begin=request.lend_thread,
            is_wanted=request.is_wanted,
            while_moving=True,
        )
        return content.open_spooled(blob, start, length, wait)
    return file or content.open(blob, start, length)


DOWNLOADS = {"download_file": "/repository/file/{name}", "download_public_file": "/public/download/{name}"}
ENDPOINTS = [
    *(
        Endpoint(
            name=name,
            method="GET",
            path=path,
            view=download,
            summary="Download a file",
            permission=None,
            query=DownloadQuery,
            answers={200: None, 206: None, 302: None, 304: None},
        )
        for name, path in DOWNLOADS.items()
    ),
    Endpoint(
        name="delete_file",
        method="DELETE",
        path="/repository/file/{name}",
        view=remove,
        summary="Delete a file",
        permission="token",
        query=DeleteQuery,
        writes=True,
        answers={200: DeletedReply},
    ),
]
