"""The ordinary answers to uploads, for plug-ins that store contents by other ways."""

from ..base.endpoint import Answer
from ..base.request import FrepoRequest
from .collections.collections import COLLECTIONS
from .collections.versions import answer_added
from .content import uploaded
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


def file_answer(request: FrepoRequest, name: str, *, is_new: bool = True) -> Answer:
    """Return the answer that `POST /api/v1/files` gives for the file with a stored name.

    Its `body` is a `StoredFile`. It checks no rights. Raises `NotFoundError`.
    """
    file = request.services.files.find(name)
    return uploaded(request, f"{FILES}/{name}", StoredFile.of(file), file.blob.digest, is_new=is_new)
