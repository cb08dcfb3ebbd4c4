"""Uploads and downloads below `/api/v1`: repeated uploads, and the bytes of a file without a redirect."""

from datetime import timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict
from pyramid.response import Response

from frepo_core.domain.signatures import repr_digest
from frepo_core.services.base.idempotency import RecordedAnswer
from frepo_core.services.files.downloads import DownloadCredentials

from ..base.endpoint import Answer
from ..base.request import FrepoRequest
from ..content.request_headers import removed_key
from ..views.downloads import send_itself


class _Recorded(BaseModel):
    """A recorded answer. An earlier version of frepo may have written it, with other fields."""

    model_config = ConfigDict(extra="allow", frozen=True)


def recordable(path: str, body: BaseModel, file_id: int) -> dict[str, Any]:
    """Return what is recorded of the answer to an upload with an Idempotency-Key."""
    return {"path": path, "body": body.model_dump(mode="json"), "file_id": file_id}


def uploaded(request: FrepoRequest, path: str, body: BaseModel, digest: str, *, is_new: bool = True) -> Answer:
    """Answer 201 with what was uploaded, or 200 if it existed; `digest` is the SHA-256 of the content in hex."""
    return Answer(
        status=201 if is_new else 200,
        body=body,
        headers={"Location": request.link(path), "Repr-Digest": repr_digest(digest)},
    )


def uploaded_before(request: FrepoRequest, earlier: RecordedAnswer) -> Answer:
    """Answer what an upload with the same key was answered, with `removed` if that was deleted or evicted since."""
    body = _Recorded(**earlier.answer["body"], **removed_key(earlier))
    return uploaded(request, earlier.answer["path"], body, earlier.digest)


def credentials(request: FrepoRequest) -> DownloadCredentials:
    """Return what the client presents to read a file: its token, and the password in X-File-Password."""
    return DownloadCredentials(
        identity=request.identity, address=request.client_address, password=request.password_in_header
    )


def send_file(request: FrepoRequest, stored_name: str) -> Response:
    """Answer with the bytes of a file that the client may read, with ranges and conditions (RFC 9110)."""
    file = request.services.downloads.find(stored_name, credentials(request))
    return send_itself(request, file)


def seconds_of(length: timedelta) -> int:
    """Return a duration in whole seconds."""
    return int(length.total_seconds())
