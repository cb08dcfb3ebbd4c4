"""The ordinary answers to uploads, for plug-ins that store contents by other ways."""

from pyramid.response import Response

from ..base.endpoint import Answer
from ..base.request import FrepoRequest
from .collections.collections import COLLECTIONS
from .collections.versions import answer_added
from .content import send_file, uploaded
from .files.files import FILES
from .files.models import StoredFile


def version_path(collection_id: str, number: int) -> str:
    """Return the path of a version below `/api/v1`, as for `Location`. `request.link` makes a URL of it."""
    return f"{COLLECTIONS}/{collection_id}/versions/v{number}"


def version_answer(request: FrepoRequest, collection_id: str, number: int) -> Answer:
    """Return the answer that `POST /api/v1/collections/{id}/versions` gives for a version, as it is now.

    Its `body` is a `Version`. It checks no rights. Raises `NotFoundError` if the version has left its collection.
    """
    return answer_added(request, request.services.versions.find(collection_id, f"v{number}"))


def version_content(request: FrepoRequest, collection_id: str, number: int) -> Response:
    """Answer with the bytes of a version, as `GET .../versions/{selector}/content` does.

    Ranges, conditions, a digest, and headers with which a browser runs nothing of it. The rights and policies of a
    download apply to the client. Raises `NotFoundError` and `AccessDeniedError`. The answer has 206 and 416, too.
    """
    return send_file(request, request.services.versions.find(collection_id, f"v{number}").file.stored_name)


def file_answer(request: FrepoRequest, name: str, *, is_new: bool = True) -> Answer:
    """Return the answer that `POST /api/v1/files` gives for the file with a stored name.

    Its `body` is a `StoredFile`. It checks no rights. Raises `NotFoundError`.
    """
    file = request.services.files.find(name)
    return uploaded(request, f"{FILES}/{name}", StoredFile.of(file), file.blob.digest, is_new=is_new)
