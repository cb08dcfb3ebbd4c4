"""The endpoint that fetches a URL and stores the content."""

from typing import BinaryIO, cast

from pydantic import Field

from frepo_core.domain.naming import name_from_url
from frepo_core.services.base.idempotency import IdempotentUpload
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import AddedFile, NewFile

from ..base.endpoint import UPLOAD_ENVELOPE, Answer, Endpoint
from ..base.request import FrepoRequest
from ..content.request_headers import IDEMPOTENCY_KEY, idempotency_of
from ..schemas.models import FileName, Flag, Form, Password, Tag
from .uploads import SCOPE, SHA256_OR_NONE, UploadReply, answer, reply


class AddByUrl(Form):
    """A URL to fetch, and the attributes of the new file."""

    fileUrl: str = Field(
        min_length=1,
        max_length=8192,
        examples=["https://example.org/dump.sql.gz"],
        # Not checked here: an invalid URL is refused when it is fetched, with an error number of its own.
        json_schema_extra={"pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"},
    )
    fileName: FileName | None = None
    tags: list[Tag] = Field([], max_length=100)
    public: Flag = False
    password: Password = ""
    fileOverwrite: Flag = False
    sha256: str = Field("", pattern=SHA256_OR_NONE)


def add_by_url(request: FrepoRequest) -> Answer:
    """Fetch a URL and store its content. The default name is the last part of the URL's path."""
    form = request.body_as(AddByUrl)
    new = NewFile(
        name=form.fileName or name_from_url(form.fileUrl),
        tags=form.tags,
        public=form.public,
        password=form.password,
        overwrite=form.fileOverwrite,
    )
    files = request.services.files
    idempotency: IdempotentUpload[AddedFile] | None = idempotency_of(
        request, SCOPE, lambda added: reply(request, added, new.name).model_dump()
    )
    files.check_rights(new, by=request.sender)
    with request.services.fetcher.open(form.fileUrl, by=request.sender) as body:
        incoming = Incoming(stream=cast(BinaryIO, body), sha256=(form.sha256,) if form.sha256 else ())
        added = files.add(new, incoming, by=request.sender, idempotency=idempotency)
    return answer(request, added, requested=new.name)


ENDPOINTS = [
    Endpoint(
        name="add_file_by_url",
        method="POST",
        path="/repository/{type}/add-by-url",
        view=add_by_url,
        summary="Store the content of a URL",
        permission="file.upload",
        body=AddByUrl,
        writes=True,
        headers=(IDEMPOTENCY_KEY,),
        answers={200: UploadReply, 202: UploadReply},
        envelope=UPLOAD_ENVELOPE,
    )
]
