"""Decides whether nginx (X-Accel-Redirect) or the object store (a redirect) sends a download."""

from urllib.parse import quote

from frepo_core.domain.mime_types import shows_inline
from frepo_core.services.base.records import BlobRecord, FileRecord

from ..base.request import FrepoRequest

# nginx compares these with the file's time, and not with the service's validators.
NOT_FOR_NGINX = frozenset({"If-Match", "If-Unmodified-Since"})
# The store has other validators than the service.
NOT_FOR_STORE = NOT_FOR_NGINX | {"If-None-Match", "If-Modified-Since", "If-Range"}


def internal_location(request: FrepoRequest, blob: BlobRecord) -> str | None:
    """Return nginx's internal path of the blob, `<fs.accel_redirect>/<storage>/<key>`, or None.

    A local client that bypasses nginx sends no X-Forwarded-For, and gets the bytes from the service.
    """
    prefix = request.services.settings.fs_accel_redirect
    if not (prefix and request.is_from_proxy and "X-Forwarded-For" in request.headers):
        return None
    if request.method != "GET" or _has_any(request, NOT_FOR_NGINX):
        return None
    path = request.services.stored_content.path(blob)
    if path is None or not path.as_posix().endswith(f"/{blob.key}"):
        return None
    return f"{prefix}/{blob.storage}/{quote(blob.key)}"


def store_url(request: FrepoRequest, file: FileRecord) -> str | None:
    """Return the object store's URL of a file, or None. The store's URLs never show files inline."""
    if not request.services.settings.fs_redirect_downloads or shows_inline(file.blob.mime):
        return None
    if request.method != "GET" or _has_any(request, NOT_FOR_STORE):
        return None
    return request.services.stored_content.url(file.blob, filename=file.requested_name, content_type=file.blob.mime)


def _has_any(request: FrepoRequest, names: frozenset[str]) -> bool:
    return any(name in request.headers for name in names)
