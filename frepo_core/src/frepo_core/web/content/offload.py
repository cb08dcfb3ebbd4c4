"""Says who else may send the bytes of a download: nginx from a local file, or the store by a URL of its own."""

from urllib.parse import quote

from frepo_core.domain.mime_types import shows_inline
from frepo_core.services.records import BlobRecord, FileRecord

from ..routing.request import FrepoRequest

# nginx tests these against the file's own time and no ETag, whatever the service says of the content.
NGINX_MISJUDGES = frozenset({"If-Match", "If-Unmodified-Since"})
# The store has other validators than the service.
STORE_MISJUDGES = NGINX_MISJUDGES | {"If-None-Match", "If-Modified-Since", "If-Range"}


def internal_location(request: FrepoRequest, blob: BlobRecord) -> str | None:
    """Return where nginx finds the blob, `<fs.accel_redirect>/<storage>/<key>`; None: the service sends it.

    Somebody who asks the service itself on its own machine sends no X-Forwarded-For, and gets the bytes.
    """
    prefix = request.services.settings.fs_accel_redirect
    if not (prefix and request.is_from_proxy and "X-Forwarded-For" in request.headers):
        return None
    if request.method != "GET" or _has_any(request, NGINX_MISJUDGES):
        return None
    path = request.services.downloads.path(blob)
    if path is None or not path.as_posix().endswith(f"/{blob.key}"):
        return None
    return f"{prefix}/{blob.storage}/{quote(blob.key)}"


def store_url(request: FrepoRequest, file: FileRecord) -> str | None:
    """Return the store's own URL of an attachment, as such a URL never shows anything; None: the service sends it."""
    if not request.services.settings.fs_redirect_downloads or shows_inline(file.blob.mime):
        return None
    if request.method != "GET" or _has_any(request, STORE_MISJUDGES):
        return None
    return request.services.downloads.url(file.blob, filename=file.requested_name, content_type=file.blob.mime)


def _has_any(request: FrepoRequest, names: frozenset[str]) -> bool:
    return any(name in request.headers for name in names)
