"""The endpoints of tus 1.0 at `/api/v1/uploads`, and those that say what became of an upload."""

from collections.abc import Mapping
from functools import partial

from frepo_core.plugins import PluginContext
from frepo_core.web import Endpoint, Reply

from ..receiving import MISMATCH
from .models import CommitForm, UploadPage, UploadQuery, UploadStatus
from .tus_headers import ERROR_HEADERS, option_headers
from .views import UPLOADS, Views

UPLOAD = f"{UPLOADS}/{{upload}}"
_ANSWERED = (
    "Location",
    "Content-Location",
    "Tus-Resumable",
    "Tus-Version",
    "Tus-Extension",
    "Tus-Max-Size",
    "Tus-Checksum-Algorithm",
    "Upload-Offset",
    "Upload-Length",
    "Upload-Defer-Length",
    "Upload-Metadata",
    "Upload-Expires",
)


_ABOUT_CREATION = (
    "Upload-Length",
    "Upload-Defer-Length",
    "Upload-Metadata",
    "Upload-Checksum",
    "Upload-Commit",
    "Idempotency-Key",
    "Content-Encoding",
)
_ABOUT_PART = ("Upload-Offset", "Upload-Length", "Upload-Checksum", "X-HTTP-Method-Override", "Content-Encoding")
_TUS = "Tus-Resumable"
_of_all = partial(Endpoint, path=UPLOADS, permission="token")
# They find out themselves whose token it is, see `identification`.
_of_one = partial(
    Endpoint,
    path=UPLOAD,
    parameters={"upload": "The id of the upload, as the `Location` of its creation has it."},
    permission=None,
    ignores_token=True,
)


def make_endpoints(context: PluginContext) -> list[Endpoint]:
    """Return the endpoints."""
    views = Views(context)
    return [_creation(views), *_parts(views), *_questions(views)]


def _creation(views: Views) -> Endpoint:
    return _of_all(
        name="create_upload",
        method="POST",
        view=views.create,
        summary="Begin an upload in parts (tus 1.0)",
        before_body=views.limit_creation,
        body_sink=views.open_creation,
        writes=True,
        headers=(_TUS, *_ABOUT_CREATION),
        answer_headers=_ANSWERED,
        options_headers=option_headers(),
        error_headers=ERROR_HEADERS,
        answers=_answers(None, 201, 404, 409, 412, 413, 415, 422, 429, MISMATCH),
    )


def _parts(views: Views) -> list[Endpoint]:
    change = partial(_of_one, writes=True, method_override=True)
    ask = _of_one(
        name="show_upload_offset",
        method="HEAD",
        view=views.show_offset,
        summary="Ask where an upload goes on (tus 1.0)",
        headers=(_TUS,),
        answer_headers=_ANSWERED,
        error_headers=ERROR_HEADERS,
        answers=_answers(None, 200, 410, 412, 423),
    )
    append = change(
        name="append_to_upload",
        method="PATCH",
        view=views.append,
        summary="Send the next part of an upload (tus 1.0)",
        before_body=views.limit_part,
        body_sink=views.open_part,
        headers=(_TUS, *_ABOUT_PART),
        options_headers=option_headers(),
        answers=_answers(None, 204, 409, 410, 412, 413, 415, 422, 423, MISMATCH),
    )
    end = change(
        name="delete_upload",
        method="DELETE",
        view=views.end,
        summary="Abort an upload (tus 1.0)",
        headers=(_TUS,),
        answers=_answers(None, 204, 409, 410, 412, 423),
    )
    return [ask, append, end]


def _questions(views: Views) -> list[Endpoint]:
    listing = _of_all(
        name="list_uploads",
        method="GET",
        view=views.list_open,
        summary="List open uploads",
        query=UploadQuery,
        answers=_answers(UploadPage, 200),
    )
    show = _of_one(
        name="show_upload",
        method="GET",
        view=views.show,
        summary="Show what became of an upload",
        answers=_answers(UploadStatus, 200, 410),
    )
    commit = _of_one(
        name="commit_upload",
        method="POST",
        path=f"{UPLOAD}/commit",
        view=views.commit,
        summary="Store a complete upload that was made with Upload-Commit: required",
        body=CommitForm,
        writes=True,
        answers={202: UploadStatus, **_answers(UploadStatus, 200, 409, 410, 413, 415, 422, 423)},
    )
    return [listing, show, commit]


def _answers(model: type[Reply] | None, success: int, *errors: int) -> Mapping[int, type[Reply] | None]:
    return {success: model, **dict.fromkeys(errors)}
