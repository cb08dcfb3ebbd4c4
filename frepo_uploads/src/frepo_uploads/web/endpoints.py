"""The endpoints of tus 1.0 at `/api/v1/uploads`, and those that say what became of an upload."""

from frepo_core.plugins import PluginContext
from frepo_core.web import Endpoint

from ..receiving import MISMATCH
from .models import CommitForm, UploadList, UploadStatus
from .tus_headers import ERROR_HEADERS, option_headers
from .views import UPLOADS, Views

UPLOAD = f"{UPLOADS}/{{upload}}"
_SENT = (
    "Tus-Resumable",
    "Upload-Length",
    "Upload-Defer-Length",
    "Upload-Offset",
    "Upload-Metadata",
    "Upload-Checksum",
    "Upload-Commit",
    "X-HTTP-Method-Override",
)
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


def make_endpoints(context: PluginContext) -> list[Endpoint]:
    """Return the endpoints. Those of one upload find out themselves whose token it is, see `identification`."""
    views = Views(context)
    options = option_headers()
    return [
        Endpoint(
            name="create_upload",
            method="POST",
            path=UPLOADS,
            view=views.create,
            summary="Begin an upload in parts (tus 1.0)",
            permission="token",
            before_body=views.limit_creation,
            body_sink=views.open_creation,
            writes=True,
            headers=(
                "Tus-Resumable",
                "Upload-Length",
                "Upload-Defer-Length",
                "Upload-Metadata",
                "Upload-Checksum",
                "Upload-Commit",
            ),
            answer_headers=_ANSWERED,
            options_headers=options,
            error_headers=ERROR_HEADERS,
            answers={201: None, **dict.fromkeys((404, 409, 412, 413, 415, 422, 429, MISMATCH))},
        ),
        Endpoint(
            name="list_uploads",
            method="GET",
            path=UPLOADS,
            view=views.list_open,
            summary="List open uploads",
            permission="token",
            answers={200: UploadList},
        ),
        Endpoint(
            name="show_upload_offset",
            method="HEAD",
            path=UPLOAD,
            view=views.show_offset,
            summary="Ask where an upload goes on (tus 1.0)",
            permission=None,
            ignores_token=True,
            headers=("Tus-Resumable",),
            answer_headers=_ANSWERED,
            error_headers=ERROR_HEADERS,
            answers={200: None, **dict.fromkeys((410, 412, 423))},
        ),
        Endpoint(
            name="append_to_upload",
            method="PATCH",
            path=UPLOAD,
            view=views.append,
            summary="Send the next part of an upload (tus 1.0)",
            permission=None,
            ignores_token=True,
            before_body=views.limit_part,
            body_sink=views.open_part,
            writes=True,
            method_override=True,
            headers=("Tus-Resumable", "Upload-Offset", "Upload-Length", "Upload-Checksum", "X-HTTP-Method-Override"),
            options_headers=options,
            answers={204: None, **dict.fromkeys((409, 410, 412, 413, 415, 422, 423, MISMATCH))},
        ),
        Endpoint(
            name="delete_upload",
            method="DELETE",
            path=UPLOAD,
            view=views.end,
            summary="Abort an upload (tus 1.0)",
            permission=None,
            ignores_token=True,
            writes=True,
            method_override=True,
            headers=("Tus-Resumable",),
            answers={204: None, **dict.fromkeys((409, 410, 412, 423))},
        ),
        Endpoint(
            name="show_upload",
            method="GET",
            path=UPLOAD,
            view=views.show,
            summary="Show what became of an upload",
            permission=None,
            ignores_token=True,
            answers={200: UploadStatus},
        ),
        Endpoint(
            name="commit_upload",
            method="POST",
            path=f"{UPLOAD}/commit",
            view=views.commit,
            summary="Store a complete upload that was made with Upload-Commit: required",
            permission=None,
            ignores_token=True,
            body=CommitForm,
            writes=True,
            answers={200: UploadStatus, 202: UploadStatus, **dict.fromkeys((409, 410, 413, 415, 422, 423))},
        ),
    ]
