"""The endpoints for uploads of plain files."""

from typing import Any

from pydantic import Field

from frepo_core.domain.signatures import repr_digest
from frepo_core.errors import FieldsError
from frepo_core.services.base.idempotency import IdempotentUpload, RecordedAnswer
from frepo_core.services.content.decoding.base64_decoder import decoded
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.file_upload import logged_refusal
from frepo_core.services.files.files import AddedFile, NewFile

from ..base.endpoint import UPLOAD_ENVELOPE, Answer, Endpoint
from ..base.request import FrepoRequest
from ..content.multipart import is_multipart
from ..content.request_body import Upload, check_content_headers, limit_body, read_upload
from ..content.request_headers import IDEMPOTENCY_KEY, idempotency_of, recorded_reply
from ..schemas import json_schemas
from ..schemas.models import FileName, Flag, Password, Query, Reply, Tag
from ..schemas.validation import gather, validate

# The scope of the Idempotency-Keys of plain files.
SCOPE = "file"
SHA256_OR_NONE = "^([0-9A-Fa-f]{64})?$"


class UploadQuery(Query):
    """The parameters of an upload. Fields of a form have precedence over the query."""

    fileName: FileName | None = None
    tags: list[Tag] = Field([], max_length=100)
    public: Flag = False
    password: Password = ""
    encoding: str = Field("", pattern="^(|plain|base64)$")
    fileOverwrite: Flag = False
    sha256: str = Field("", pattern=SHA256_OR_NONE)


class UploadReply(Reply):
    """The new file, or the existing file with the same content."""

    status: str = "OK"
    error_code: int | None = None
    http_code: int
    exit_code: int
    url: str
    back: str = ""
    id: int
    filename: str
    requested_filename: str
    context: dict[str, Any] | None = None
    size: int
    sha256: str = Field(pattern=json_schemas.SHA256)
    mime: str


def upload(request: FrepoRequest) -> Answer:
    """Store a file. Its name is in the query, in the form, or in the form's file part."""
    with read_upload(request) as content:
        return _add(request, content, name=None)


def upload_named(request: FrepoRequest) -> Answer:
    """Store a file under the name in the path."""
    with read_upload(request) as content:
        return _add(request, content, name=request.matchdict["name"])


def before_upload(request: FrepoRequest) -> int | None:
    """Decide about a file before its content arrives. The other fields of a form are not known yet."""
    check_content_headers(request)
    _idempotency_of(request, "")
    query = request.query_as(UploadQuery)
    if not is_multipart(request.headers.get("Content-Type", "")):
        query = _parameters(request, [], request.matchdict.get("name"))
        request.services.files.check_rights(_new_file(query), by=request.sender)
    limits = request.services.files.limits(by=request.sender)
    with logged_refusal(request.matchdict.get("name") or query.fileName, by=request.sender):
        return limit_body(request, limits, is_encoded=query.encoding == "base64")


def _new_file(query: UploadQuery) -> NewFile:
    if query.fileName is None:
        raise FieldsError({"form.fileName": ["A file name is needed: send ?fileName=..."]})
    return NewFile(
        name=query.fileName,
        tags=query.tags,
        public=query.public,
        password=query.password,
        overwrite=query.fileOverwrite,
    )


def _idempotency_of(request: FrepoRequest, requested: str) -> IdempotentUpload[AddedFile] | None:
    return idempotency_of(request, SCOPE, lambda added: reply(request, added, requested).model_dump())


def _add(request: FrepoRequest, content: Upload, name: str | None) -> Answer:
    query = _parameters(request, content.fields, name, content.part_name)
    new = _new_file(query)
    incoming = Incoming(
        stream=content.incoming.stream,
        declared_size=content.incoming.declared_size,
        sha256=content.incoming.sha256 + ((query.sha256,) if query.sha256 else ()),
        md5=content.incoming.md5,
    )
    files = request.services.files
    idempotency = _idempotency_of(request, new.name)
    if query.encoding == "base64":
        files.check_rights(new, by=request.sender)
        with decoded(incoming, request.services.ingest) as plain:
            added = files.add(new, plain, by=request.sender, idempotency=idempotency)
    else:
        added = files.add(new, incoming, by=request.sender, idempotency=idempotency)
    return answer(request, added, requested=new.name)


def answer(request: FrepoRequest, added: AddedFile | RecordedAnswer, requested: str) -> Answer:
    """Answer 200 for a new file, 202 for an existing one, or the recorded answer to a repeated upload."""
    if isinstance(added, RecordedAnswer):
        return recorded_reply(added)
    body = reply(request, added, requested)
    return Answer(status=body.http_code, body=body, headers={"Repr-Digest": repr_digest(body.sha256)})


def reply(request: FrepoRequest, added: AddedFile, requested: str) -> UploadReply:
    """Return the description of an added file."""
    status, file = (202 if added.existed else 200), added.file
    return UploadReply(
        http_code=status,
        exit_code=status,
        url=request.link(request.services.links.plain(file.stored_name)),
        id=file.id,
        filename=file.stored_name,
        requested_filename=requested,
        size=file.blob.size,
        sha256=file.blob.digest,
        mime=file.blob.mime,
    )


def _parameters(
    request: FrepoRequest, fields: list[tuple[str, str]], name: str | None, part_name: str | None = None
) -> UploadQuery:
    """Merge the parameters: the name in the path, before the form's fields, before the query."""
    if not fields and name is None and not part_name:
        return request.query_as(UploadQuery)
    values = gather(UploadQuery, request.params_in_query) | gather(UploadQuery, fields)
    if name is not None:
        values["fileName"] = name
    if part_name:
        values.setdefault("fileName", part_name)
    return validate(UploadQuery, values)


ENDPOINTS = [
    Endpoint(
        name=name,
        method="POST",
        path=path,
        view=view,
        summary=summary,
        permission="file.upload",
        query=UploadQuery,
        content=True,
        before_body=before_upload,
        writes=True,
        headers=(IDEMPOTENCY_KEY,),
        answers={200: UploadReply, 202: UploadReply},
        envelope=UPLOAD_ENVELOPE,
    )
    for name, path, view, summary in (
        ("upload_file", "/repository/{type}/upload", upload, "Upload a file"),
        ("upload_named_file", "/repository/file/{name}", upload_named, "Upload a file under a name"),
    )
]
