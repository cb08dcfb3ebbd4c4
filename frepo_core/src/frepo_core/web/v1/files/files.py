"""The endpoints of plain files: upload, list, show, change, delete, content and link."""

from collections.abc import Sequence

from pyramid.response import Response

from frepo_core.errors import FieldsError, NotFoundError
from frepo_core.services.base.idempotency import IdempotentUpload, RecordedAnswer
from frepo_core.services.base.records import FileRecord
from frepo_core.services.files.file_upload import logged_refusal
from frepo_core.services.files.files import AddedFile, NewFile
from frepo_core.services.files.listing import FileSearch

from ...base.endpoint import Answer, Endpoint
from ...base.request import V1, FrepoRequest
from ...content.multipart import is_multipart
from ...content.request_body import check_content_headers, limit_body, read_upload
from ...content.request_headers import CONTENT_ENCODING, IDEMPOTENCY_KEY, idempotency_of
from ...conventions.answers import delete_endpoint, edit_endpoint, no_content, resource, show_endpoint
from ...conventions.entity_tags import if_match
from ...conventions.paging import next_cursor, page_request
from ..collections.version_models import Link, LinkRequest
from ..content import credentials, recordable, seconds_of, send_file, uploaded, uploaded_before
from .models import FilePage, FilePatch, FileQuery, StoredFile, UploadQuery, file_tag

FILES = f"{V1}/files"
FILE = f"{FILES}/{{name}}"


def list_files(request: FrepoRequest) -> Answer:
    """List files, the newest first. Versions are not listed."""
    query = request.query_as(FileQuery)
    search = FileSearch(
        text=query.q,
        tags=[tag.lower() for tag in query.tag],
        mimes=[mime.lower() for mime in query.mime_type],
        password=request.password_in_header,
        address=request.client_address,
    )
    page = request.services.listing.visible_files(search, page_request(query), by=request.sender)
    return Answer(body=FilePage(items=_shown(request, page.items), next=next_cursor(query, page)))


def add(request: FrepoRequest) -> Answer:
    """Store a file. The body is the content itself, or a form. For known content, the answer is its file (200)."""
    with read_upload(request, limits=request.services.files.limits(by=request.sender)) as content:
        new, idempotency = _new_file(request, content.part_name), _idempotency_of(request)
        added = request.services.files.add(new, content.incoming, by=request.sender, idempotency=idempotency)
    if isinstance(added, RecordedAnswer):
        return uploaded_before(request, added)
    file = added.file
    return uploaded(request, _path(file), StoredFile.of(file), file.blob.digest, is_new=not added.existed)


def before_add(request: FrepoRequest) -> int | None:
    """Decide about a file before its content arrives. The name of a form's part is not known yet."""
    check_content_headers(request)
    _idempotency_of(request)
    files = request.services.files
    if not is_multipart(request.headers.get("Content-Type", "")):
        files.check_rights(_new_file(request, None), by=request.sender)
    with logged_refusal(request.query_as(UploadQuery).name, by=request.sender):
        return limit_body(request, files.limits(by=request.sender))


def _new_file(request: FrepoRequest, part_name: str | None) -> NewFile:
    query = request.query_as(UploadQuery)
    name = query.name or part_name
    if not name:
        raise FieldsError({"name": ["A file name is needed: send ?name=..."]})
    return NewFile(name=name, tags=query.tag, public=query.public, password=request.password_in_header)


def _idempotency_of(request: FrepoRequest) -> IdempotentUpload[AddedFile] | None:
    def serialize(added: AddedFile) -> dict[str, object]:
        return recordable(_path(added.file), StoredFile.of(added.file), added.file.id)

    return idempotency_of(request, "v1 file", serialize)


def _path(file: FileRecord) -> str:
    return f"{FILES}/{file.stored_name}"


def _shown(request: FrepoRequest, files: Sequence[FileRecord]) -> list[StoredFile]:
    counts = request.services.copies.count([file.blob for file in files])
    return [StoredFile.of(file, counts) for file in files]


def _readable(request: FrepoRequest) -> FileRecord:
    """Return the plain file in the path, with its tags, if the client may read it."""
    name: str = request.matchdict["name"]
    request.services.downloads.find(name, credentials(request))
    file = request.services.files.find(name)
    if file.is_version:
        raise NotFoundError("This file belongs to a version: see its collection")
    return file


def show(request: FrepoRequest) -> Answer:
    """Show a file that the token may read, by its stored name."""
    file = _readable(request)
    return resource(_shown(request, [file])[0], file_tag(file))


def edit(request: FrepoRequest) -> Answer:
    """Change name, tags, visibility or password of a file. It needs the role `security.overwrite`.

    A protected file needs its password in X-File-Password, too, or the role to read any file.
    """
    file = request.services.file_edits.edit(
        request.matchdict["name"],
        request.body_as(FilePatch).change(),
        by=request.sender,
        password=request.password_in_header,
        address=request.client_address,
        precondition=if_match(request, file_tag),
    )
    return resource(_shown(request, [file])[0], file_tag(file))


def remove(request: FrepoRequest) -> Response:
    """Delete a file: with its password in X-File-Password, or with the role for all files."""
    request.services.files.delete(
        request.matchdict["name"],
        request.password_in_header,
        by=request.sender,
        address=request.client_address,
        precondition=if_match(request, file_tag),
    )
    return no_content()


def send_content(request: FrepoRequest) -> Response:
    """Send the content of a file, whole or in ranges, without a redirect. Open files need no token."""
    return send_file(request, request.matchdict["name"])


def make_link(request: FrepoRequest) -> Answer:
    """Make a link to a file that the token may read. It needs neither a token nor the password, until that changes."""
    length, file = request.body_as(LinkRequest).expires_in, _readable(request)
    path, end = request.services.links.signed_for(file, seconds_of(length), unlocked=True)
    return Answer(body=Link(url=request.link(path), expires_at=end))


ENDPOINTS = [
    Endpoint(
        name="list_files",
        method="GET",
        path=FILES,
        view=list_files,
        summary="List files",
        permission="file.list",
        query=FileQuery,
        answers={200: FilePage},
    ),
    Endpoint(
        name="add_file",
        method="POST",
        path=FILES,
        view=add,
        summary="Upload a file",
        permission="file.upload",
        query=UploadQuery,
        content=True,
        before_body=before_add,
        writes=True,
        headers=(IDEMPOTENCY_KEY, CONTENT_ENCODING),
        answers={200: StoredFile, 201: StoredFile},
    ),
    show_endpoint(
        name="show_file",
        path=FILE,
        view=show,
        summary="Show a file",
        permission="token",
        answers={200: StoredFile},
    ),
    edit_endpoint(
        name="edit_file",
        path=FILE,
        view=edit,
        summary="Change a file",
        permission="file.overwrite",
        body=FilePatch,
        answers={200: StoredFile},
    ),
    delete_endpoint(
        name="delete_file",
        path=FILE,
        view=remove,
        summary="Delete a file",
        permission="token",
    ),
    Endpoint(
        name="download_file",
        method="GET",
        path=f"{FILE}/content",
        view=send_content,
        summary="Download a file",
        permission=None,
        answers={200: None, 206: None, 304: None},
    ),
    Endpoint(
        name="link_file",
        method="POST",
        path=f"{FILE}/link",
        view=make_link,
        summary="Make a link to a file",
        permission="token",
        body=LinkRequest,
        answers={200: Link},
    ),
]
